// Decides about one answer: reads {item, answer, calls} on stdin, ends with 0 if all checks hold and with 1 if not.
let input = '';
for await (const chunk of process.stdin) input += chunk;
const { item, answer, calls } = JSON.parse(input);
const { says = [], never = [], calls: called = [], callsMost, charactersMost, sentencesMost } = item.expect;
const holds = (pattern, text) => new RegExp(pattern, 'i').test(text);
const sentences = answer.split(/[.!?]+(?=\s|$)/).filter((one) => one.trim() !== '').length;

const failed = [
  ...says.filter((one) => !holds(one, answer)).map((one) => `does not say ${one}`),
  ...never.filter((one) => holds(one, answer)).map((one) => `says ${one}`),
  ...called
    .filter((one) => !calls.some(({ tool }) => holds(`^(${one})$`, tool)))
    .map((one) => `does not call ${one}`),
  ...(callsMost !== undefined && calls.length > callsMost ? [`${calls.length} calls`] : []),
  ...(charactersMost !== undefined && answer.trim().length > charactersMost ? ['too long'] : []),
  ...(sentencesMost !== undefined && sentences > sentencesMost ? [`${sentences} sentences`] : []),
];
process.stdout.write(`${failed.length === 0 ? 'all checks hold' : failed.join('; ')}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
