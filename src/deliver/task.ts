/** The task on its way into a program: as one JSON line, or as plain text on stdin, and what either would change. */
import type { AdapterPlan } from './adapter.ts';
import { type Fault, firstWay } from './transport.ts';

/** What a program does to a task that it takes: null if nothing. */
export type TaskFault = (task: string) => Fault | null;

/** It runs what begins with a slash as a command of its own instead of handing it to the model. */
export const slashIsCommand: TaskFault = (task) =>
  task.startsWith('/') ? { kind: 'content', why: 'it takes a leading slash for a command of its own' } : null;

/** It drops a byte-order mark at the start. */
export const dropsByteOrderMark: TaskFault = (task) =>
  task.startsWith('\uFEFF') ? { kind: 'content', why: 'it drops a byte-order mark at the start' } : null;

type TaskParts = Pick<AdapterPlan, 'stdin' | 'task'>;

/** The task as the one message of a stream of JSON lines, which carries any text. */
export function taskAsJsonLine(harness: string, task: string, fault: TaskFault): TaskParts {
  const way = { control: '--input-format stream-json', transport: 'stdin', fault } as const;
  firstWay(harness, 'task', task, [way]);
  const message = { type: 'user', message: { role: 'user', content: task } };
  return { stdin: `${JSON.stringify(message)}\n`, task: way };
}

/** The task as all that stands on stdin. */
export function taskAsText(harness: string, task: string, fault: TaskFault): TaskParts {
  const way = { control: 'stdin', transport: 'stdin', fault } as const;
  firstWay(harness, 'task', task, [way]);
  return { stdin: task, task: way };
}

/** Said of a program that looks into what a task names: the task arrives as it is, with more beside it. */
export function mentionNotice(harness: string, task: string): readonly string[] {
  return /(^|\s)@\S/.test(task)
    ? [`${harness} reads the files that stand behind an at sign in the task, and shows them beside it.`]
    : [];
}
