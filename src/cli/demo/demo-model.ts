/** The scripted model of `writ demo`: a real HTTP server on loopback whose answers follow from what the tools returned. */
import { type ChatCompletionRequest, LLMock } from '@copilotkit/aimock';
import { isRecord, parseExactJson } from '../../protocol/json.ts';

/** The question of the demo, which the script below can answer over any table of penguins. */
export const demoTask = 'Which penguin species is the heaviest on average, and how sure is that figure?';

const column = 'body_mass_g';
const query = [
  `SELECT species, AVG(${column}) AS mean_g, COUNT(${column}) AS animals, COUNT(*) - COUNT(${column}) AS missing`,
  'FROM penguins GROUP BY species ORDER BY mean_g DESC',
].join(' ');

/** Starts the server. Its base URL ends in `/v1`. */
export async function startDemoModel(): Promise<{ readonly baseUrl: string; stop(): Promise<void> }> {
  const server = new LLMock({ port: 0, host: '127.0.0.1', strict: true, chunkSize: 12, latency: 15 });
  server.on({ predicate: () => true }, answerTo);
  await server.start();
  return { baseUrl: `${server.url}/v1`, stop: () => server.stop() };
}

interface DemoAnswer {
  readonly content: string;
  readonly toolCalls?: { name: string; arguments: string }[];
}

/** First look at the tables and the notes, then ask the database, then say what it said. */
export function answerTo(request: ChatCompletionRequest): DemoAnswer {
  const results = resultsOf(request);
  if (results.length === 0) {
    return {
      content: 'First the tables, and what the notes say of them.',
      toolCalls: [
        { name: 'sql_query', arguments: JSON.stringify({ query: 'SELECT name FROM sqlite_schema' }) },
        { name: 'project_read', arguments: JSON.stringify({ path: 'notes.md' }) },
      ],
    };
  }
  const [tables, notes, figures] = results;
  if (!rowsOf(tables).some(([name]) => name === 'penguins')) {
    return { content: 'The tables cannot answer this: none of them is called penguins.' };
  }
  if (figures === undefined) {
    return {
      content: 'The database computes the means.',
      toolCalls: [{ name: 'sql_query', arguments: JSON.stringify({ query }) }],
    };
  }
  return { content: finalAnswer(figures, notes ?? '') };
}

function finalAnswer(figures: string, notes: string): string {
  const groups = rowsOf(figures).map(([species, mean, animals, missing]) => ({
    species: String(species),
    mean: Math.round(Number(mean)),
    animals: Number(animals),
    missing: Number(missing),
  }));
  const [first, second] = groups.filter((group) => group.animals > 0);
  if (first === undefined)
    return `The tables cannot answer this: they give no mean. The tool said: ${figures}`;
  const margin = second === undefined ? '' : `, ${first.mean - second.mean} g more than ${second.species}`;
  const missing = groups.reduce((sum, group) => sum + group.missing, 0);
  const note = noteOn(objectIn(notes).content);
  return [
    `${first.species} is the heaviest on average: ${first.mean} g${margin}.`,
    '',
    `\`\`\`sql\n${query}\n\`\`\``,
    '',
    ...groups.map(({ species, mean, animals }) => `- ${species}: ${mean} g, over ${animals} animals`),
    `- left out, because their weight is missing: ${missing}`,
    ...(note === undefined ? [] : [`- the data dictionary says of it: ${note}`]),
  ].join('\n');
}

/** The texts of the tool results since the last question, in order. */
function resultsOf({ messages }: ChatCompletionRequest): readonly string[] {
  const last = messages.findLastIndex((message) => message.role === 'user');
  return messages
    .slice(last + 1)
    .filter((message) => message.role === 'tool')
    .map((message) => (typeof message.content === 'string' ? message.content : ''));
}

// A failed call is a sentence and no object.
function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value = parseExactJson(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

function rowsOf(text = ''): readonly (readonly unknown[])[] {
  const { rows } = objectIn(text);
  return Array.isArray(rows) ? rows.filter((row) => Array.isArray(row)) : [];
}

/** What the dictionary's table says in the row of the weight. */
function noteOn(notes: unknown): string | undefined {
  if (typeof notes !== 'string') return undefined;
  const rows = notes.split('\n').map((row) => row.split('|').map((cell) => cell.trim()));
  return rows.find((cells) => cells[1]?.includes(column))?.[2];
}
