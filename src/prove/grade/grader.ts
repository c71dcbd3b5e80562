/** The port of a grader: what it wants of an item, what it sees of a trial, and what it says. */
import type { Digest } from '../../digest.ts';
import type { Json } from '../../protocol/json.ts';
import type { Usage } from '../../protocol/usage.ts';
import type { Item } from '../experiment.ts';
import type { GraderFile } from '../form.ts';
import type { CallSeen } from '../trial.ts';

/** All that is shown of a trial. Nothing in it names the arm, though calls and workspace may tell arms apart by their tools. */
export interface GradeInput {
  readonly item: Item;
  readonly answer: string;
  readonly calls: readonly CallSeen[];
  /** The folder that the agent worked in, as it left it; null where it is gone. */
  readonly workspace: string | null;
  readonly signal?: AbortSignal | undefined;
}

export interface Grade {
  /** From 0 to 1; null where the grader itself failed, which is an outage and no verdict on the answer. */
  readonly score: number | null;
  readonly reason: string;
  /** What a judging model used; left out where none judged. */
  readonly judging?: Usage;
}

/**
 * Contract: `grade` decides by its input alone and changes nothing in the workspace; what it cannot decide has the score
 * null, and it throws only for what makes all grading impossible. Graders of equal digests give equal grades to equal
 * input, but for a judge, whose every grade is kept.
 */
export interface Grader {
  readonly kind: string;
  /** Over kind, options and all files that decide: another digest is another grader, and its grades are others. */
  readonly digest: Digest;
  /** Absolute paths of the files that decide; none of them may lie in reach of an agent. */
  readonly files: readonly string[];
  /** `at-once` reads the workspace and must run before it is removed; `at-end` grades all trials in one shuffled order. */
  readonly when: 'at-once' | 'at-end';
  /** What is wrong with an item's `expect`, as `should be a number, found …`; null if nothing is. */
  wants(expect: Json): string | null;
  grade(input: GradeInput): Promise<Grade>;
}

export interface JudgePrompt {
  /** As `provider/name`. */
  readonly model: string;
  /** The registered instructions, word for word. */
  readonly instructions: string;
  /** The task, what was expected, and the answer. */
  readonly case: string;
  readonly signal?: AbortSignal | undefined;
}

export interface JudgeReply {
  /** Null where the model gave none. */
  readonly text: string | null;
  /** The name under which it answered; null where it is not told. */
  readonly modelSeen: string | null;
  readonly usage: Usage;
}

/** Asks a model to judge. It keeps no answer for another time. */
export type Judge = (prompt: JudgePrompt) => Promise<JudgeReply>;

/** What a grader is made with, beside its options. */
export interface GraderSurroundings {
  /** The folder of experiment.yaml. */
  readonly folder: string;
  /** PATH of the caller, for a program that is named without a path. */
  readonly path: string;
  readonly judge?: Judge | undefined;
}

export type GraderOptions<Kind extends GraderFile['kind']> = Extract<GraderFile, { readonly kind: Kind }>;

/** Makes a grader of its options. The form of experiment.yaml has seen to it that they are of its kind. */
export type OpenGrader = (options: GraderFile, surroundings: GraderSurroundings) => Promise<Grader>;

/** How an expectation that has another form is found. */
export function found(expect: Json): string {
  if (expect === null) return 'nothing';
  const text = JSON.stringify(expect);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** A pass or a fail with what was seen. */
export function passIf(pass: boolean, reason: string): Grade {
  return { score: pass ? 1 : 0, reason };
}
