// Decides about one trial: reads {item, answer, calls, workspace} on stdin, ends with 0 if all checks hold, else with 1.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

let input = '';
for await (const chunk of process.stdin) input += chunk;
const { item, answer, calls, workspace } = JSON.parse(input);
const { says = [], never = [], calls: called = [], callsNever = [], files = {} } = item.expect;
const { callsMost, charactersMost, sentencesMost } = item.expect;
const holds = (pattern, text) => new RegExp(pattern, 'i').test(text);
const isCalled = (one) => calls.some(({ tool }) => holds(`^(${one})$`, tool));
const textOf = (path) => readFile(join(workspace, path), 'utf8').catch(() => '');
const texts = new Map(await Promise.all(Object.keys(files).map(async (path) => [path, await textOf(path)])));
const sentences = answer.split(/[.!?]+(?=\s|$)/).filter((one) => one.trim() !== '').length;

const failed = [
  ...says.filter((one) => !holds(one, answer)).map((one) => `does not say ${one}`),
  ...never.filter((one) => holds(one, answer)).map((one) => `says ${one}`),
  ...called.filter((one) => !isCalled(one)).map((one) => `does not call ${one}`),
  ...callsNever.filter(isCalled).map((one) => `calls ${one}`),
  ...Object.entries(files).flatMap(([path, patterns]) =>
    patterns.filter((one) => !holds(one, texts.get(path))).map((one) => `${path} does not hold ${one}`),
  ),
  ...(callsMost !== undefined && calls.length > callsMost ? [`${calls.length} calls`] : []),
  ...(charactersMost !== undefined && answer.trim().length > charactersMost ? ['too long'] : []),
  ...(sentencesMost !== undefined && sentences > sentencesMost ? [`${sentences} sentences`] : []),
];
process.stdout.write(`${failed.length === 0 ? 'all checks hold' : failed.join('; ')}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
