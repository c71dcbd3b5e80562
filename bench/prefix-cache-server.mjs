// A model server on loopback that caches prompt prefixes as providers do, by a stated count of tokens: with it the cached part of
// a session is measured and not believed. Nothing of a model is in it; it answers "done".
//
// Tokens: the prompt is written as one text in the order in which providers read it (tools, then the system text, then the
// messages, each as its JSON), and every four characters of it are a token.
// By blocks (`/chat/completions`): whole blocks of 128 tokens are kept, and found again from 1,024 tokens up.
// By breakpoints (`/messages`): what ends at a `cache_control` mark is kept if it has 1,024 tokens; a mark finds what was kept
// at it or at one of the 20 content blocks before it; a fifth mark is refused.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';

export const blockTokens = 128;
export const cachedTokensMin = 1024;
const charactersPerToken = 4;
const lookBack = 20;
const marksMax = 4;
const answerTokens = 8;

const tokensIn = (characters) => Math.ceil(characters / charactersPerToken);

/** The digest of a text as it grows. */
function growing() {
  const hash = createHash('sha256');
  return { add: (text) => hash.update(text), digest: () => hash.copy().digest('base64') };
}

/** What a request by blocks found cached, and adds what it has itself. */
function byBlocks({ tools = [], messages = [] }, kept) {
  const text = [...tools, ...messages].map((part) => JSON.stringify(part)).join('');
  const prefix = growing();
  let cached = 0;
  for (let end = blockTokens; end * charactersPerToken <= text.length; end += blockTokens) {
    prefix.add(text.slice((end - blockTokens) * charactersPerToken, end * charactersPerToken));
    const key = prefix.digest();
    if (end >= cachedTokensMin && kept.has(key)) cached = end;
    kept.add(key);
  }
  return { prompt: tokensIn(text.length), cached, written: 0 };
}

/** The content blocks of a request in order, each with its text and whether it carries a mark. */
function contentBlocks({ tools = [], system = [], messages = [] }) {
  const blocks = [...tools, ...(typeof system === 'string' ? [{ type: 'text', text: system }] : system)];
  for (const { role, content } of messages) {
    const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    blocks.push(...parts.map((part) => ({ role, ...part })));
  }
  return blocks.map(({ cache_control: mark, ...block }) => ({
    text: JSON.stringify(block),
    marked: mark !== undefined,
  }));
}

function byBreakpoints(body, kept) {
  const prefix = growing();
  let characters = 0;
  const ends = contentBlocks(body).map(({ text, marked }) => {
    prefix.add(text);
    characters += text.length;
    return { tokens: tokensIn(characters), key: prefix.digest(), marked };
  });
  const marks = ends.flatMap(({ marked }, at) => (marked ? [at] : []));
  if (marks.length > marksMax)
    return { refusal: `At most ${marksMax} blocks with cache_control, found ${marks.length}.` };
  const found = marks.flatMap((at) =>
    ends
      .slice(Math.max(0, at - lookBack), at + 1)
      .flatMap(({ tokens, key }) => (kept.has(key) ? [tokens] : [])),
  );
  const cached = Math.max(0, ...found);
  const whole = marks.map((at) => ends[at]).filter(({ tokens }) => tokens >= cachedTokensMin);
  for (const { key } of whole) kept.add(key);
  const written = Math.max(0, ...whole.map(({ tokens }) => tokens - cached));
  return { prompt: ends.at(-1)?.tokens ?? 0, cached, written };
}

const event = (type, more) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;

function chatAnswer({ prompt, cached }) {
  const chunk = (more) => `data: ${JSON.stringify({ id: 'answer', model: 'cached', ...more })}\n\n`;
  const usage = {
    prompt_tokens: prompt,
    completion_tokens: answerTokens,
    total_tokens: prompt + answerTokens,
    prompt_tokens_details: { cached_tokens: cached },
  };
  return (
    chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: 'done' }, finish_reason: null }] }) +
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) +
    chunk({ choices: [], usage }) +
    'data: [DONE]\n\n'
  );
}

function messagesAnswer({ prompt, cached, written }) {
  const usage = {
    input_tokens: prompt - cached - written,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: written,
    output_tokens: answerTokens,
  };
  const message = {
    id: 'answer',
    type: 'message',
    role: 'assistant',
    model: 'cached',
    content: [],
    stop_reason: null,
    usage,
  };
  return (
    event('message_start', { message }) +
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'done' } }) +
    event('content_block_stop', { index: 0 }) +
    event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: answerTokens } }) +
    event('message_stop', {})
  );
}

/** Starts it with an empty cache; `asked` has what each request found, in order. */
export async function prefixCacheServer() {
  const kept = new Set();
  const asked = [];
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8'));
      const isMessages = request.url.endsWith('/messages');
      const found = isMessages ? byBreakpoints(body, kept) : byBlocks(body, kept);
      if (found.refusal !== undefined) {
        response.writeHead(400, { 'content-type': 'application/json' });
        const error = { type: 'invalid_request_error', message: found.refusal };
        response.end(JSON.stringify({ type: 'error', error }));
        return;
      }
      asked.push(found);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(isMessages ? messagesAnswer(found) : chatAnswer(found));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    asked,
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}
