// Composing 15 KB of 20 conditional fragments, beside bare string building and three template engines on the same text.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PromptTemplate } from '@langchain/core/prompts';
import Handlebars from 'handlebars';
import { Liquid } from 'liquidjs';
import { sha256 } from '../dist/digest.js';
import { compose, loadAgent, settle } from '../dist/index.js';

const sentence = 'Say what the answer rests on, and name every table that you read before you rely on it. ';
const layers = ['identity', 'contract', 'directives', 'skills'];

/** Twenty fragments of some 840 bytes, each under two facts; two are left out, and what is left has 15 KB. */
const fragments = Array.from({ length: 20 }, (_, i) => ({
  name: `part_${i}`,
  facts: [`a_${i}`, `b_${i}`],
  body: `# Part ${i}\n\n${sentence.repeat(10).slice(0, 800)}\nFact ${i} holds.\n\n`,
}));
const facts = Object.fromEntries(
  fragments.flatMap(({ facts: [a, b] }, i) => [
    [a, i % 9 !== 8],
    [b, true],
  ]),
);

/** Text and digest, with every decision, its facts and their sources recorded, and each layer measured. */
async function writ(layerOf) {
  const folder = mkdtempSync(join(tmpdir(), 'writ-bench-'));
  try {
    mkdirSync(join(folder, 'instructions'));
    const declared = Object.entries(facts).map(
      ([name, value]) => `  ${name}: { type: bool, default: ${value} }\n`,
    );
    const profile = fragments.map(({ name }) => name).join(', ');
    writeFileSync(
      join(folder, 'agent.yaml'),
      `key: bench\njoin: verbatim\nprofiles: { default: [${profile}] }\nfacts:\n${declared.join('')}`,
    );
    for (const [
      i,
      {
        name,
        facts: [a, b],
        body,
      },
    ] of fragments.entries())
      writeFileSync(
        join(folder, `instructions/${name}.md`),
        `---\nlayer: ${layerOf(i)}\nwhen: ${a} && ${b}\n---\n${body}`,
      );
    const agent = await loadAgent(folder, { tools: [], capabilities: [], probes: [] });
    const situation = await settle(agent, {}, []);
    return () => {
      const { text, digest } = compose(agent, situation);
      return { text, digest };
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// Each other way is measured twice: with the digest that a composition always has, and the text alone.
const hashed = (text) => ({ text, digest: sha256(text) });
const alone = (text) => ({ text });

/** The same conditions in plain code; nothing but the text is known afterwards. */
function bare(result) {
  return () => {
    let text = '';
    for (const {
      facts: [a, b],
      body,
    } of fragments)
      if (facts[a] && facts[b]) text += body;
    return result(text);
  };
}

function liquidJs(result) {
  const source = fragments
    .map(({ facts: [a, b], body }) => `{% if ${a} and ${b} %}${body}{% endif %}`)
    .join('');
  const engine = new Liquid();
  const parsed = engine.parse(source);
  return () => result(engine.renderSync(parsed, facts));
}

function handlebars(result) {
  const source = fragments
    .map(({ facts: [a, b], body }) => `{{#if ${a}}}{{#if ${b}}}${body}{{/if}}{{/if}}`)
    .join('');
  const render = Handlebars.compile(source, { noEscape: true, knownHelpersOnly: true });
  return () => result(render(facts));
}

/** Its templates know no condition: plain code decides, and each kept fragment is a value. */
function langChain(result) {
  const template = PromptTemplate.fromTemplate(fragments.map(({ name }) => `{${name}}`).join(''));
  return async () => {
    const values = {};
    for (const {
      name,
      facts: [a, b],
      body,
    } of fragments)
      values[name] = facts[a] && facts[b] ? body : '';
    return result(await template.format(values));
  };
}

const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
const runs = 400;
const rounds = 15;
const peers = { bare, Handlebars: handlebars, LangChain: langChain, LiquidJS: liquidJs };
const textAlone = ', text alone';

/**
 * Median microseconds of processor time of one composition for each way, collecting its garbage included: on a machine that
 * does other work too, the time on the wall says little. Rounds are interleaved, so that a slow moment is nobody's alone.
 */
export async function measureCompose() {
  const ways = {
    writ: await writ(() => 'contract'),
    'writ, 4 layers': await writ((i) => layers[Math.floor(i / 5)]),
  };
  for (const [name, way] of Object.entries(peers)) {
    ways[name] = way(hashed);
    ways[name + textAlone] = way(alone);
  }
  const wanted = ways.bare();
  const taken = {};
  for (const [name, way] of Object.entries(ways)) {
    const { text, digest = wanted.digest } = await way();
    if (text !== wanted.text || digest !== wanted.digest) throw new Error(`${name} gives another text`);
    taken[name] = [];
  }
  // The first round warms every way up and does not count.
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, way] of Object.entries(ways)) {
      const waits = name.startsWith('LangChain');
      const before = process.cpuUsage();
      for (let run = 0; run < runs; run += 1) waits ? await way() : way();
      const { user, system } = process.cpuUsage(before);
      if (round > 0) taken[name].push((user + system) / runs);
    }
  }
  const micros = Object.fromEntries(Object.entries(taken).map(([name, list]) => [name, median(list)]));
  return { bytes: Buffer.byteLength(wanted.text), micros };
}

export async function main() {
  const { bytes, micros } = await measureCompose();
  console.log(
    `Median processor time of one composition of ${bytes} bytes in µs, templates parsed beforehand. Every way decides 20
conditions over 40 facts. Only writ records each decision with its facts and sources, the layers and the sizes, and only
writ makes the text's SHA-256 by itself: the others are shown with it added, and for the text alone.\n`,
  );
  for (const name of Object.keys(micros).filter((one) => !one.endsWith(textAlone))) {
    const took = micros[name];
    const text = micros[name + textAlone];
    const target = name.startsWith('writ') ? ' (target ≤ 4)' : `; text alone ${text.toFixed(1)}`;
    console.log(
      `${name.padEnd(16)}${took.toFixed(1).padStart(8)}   ${(took / micros.bare).toFixed(2)} × bare${target}`,
    );
  }
}
