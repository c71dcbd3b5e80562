/** One answer in the two dialects that servers speak, and what a request in each says, so that one suite holds all models. */

export interface Scripted {
  readonly reasoning?: string;
  readonly text?: readonly string[];
  readonly calls?: readonly {
    readonly id: string;
    readonly name: string;
    readonly pieces: readonly string[];
  }[];
  readonly finish: 'stop' | 'tool-calls' | 'length' | 'content-filter';
}

export interface Dialect {
  readonly name: 'openai-chat' | 'anthropic';
  /** The events of an answer, its end mark last. Its usage is 1,000 prompt tokens, 600 of them cached, and 50 of output. */
  events(answer: Scripted): string[];
  /** An error inside a stream. */
  error(code: string, message: string): string;
  /** The body of an error response. */
  fault(code: string, message: string): string;
  /** What a request said, by the roles of its messages. */
  sent(body: string): Sent;
}

export interface Sent {
  readonly system: string;
  readonly roles: readonly string[];
  readonly reasoning: unknown;
  /** As the server gets them after parsing. */
  readonly inputs: readonly unknown[];
  readonly results: readonly (readonly [id: unknown, text: unknown])[];
}

interface OpenaiMessage {
  readonly role: string;
  readonly content?: string;
  readonly reasoning_content?: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly function: { readonly arguments: string } }[];
}

interface AnthropicBlock {
  readonly type: string;
  readonly input?: unknown;
  readonly tool_use_id?: string;
  readonly content?: unknown;
}

const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const event = (type: string, value: object = {}) => `event: ${type}\n${data({ type, ...value })}`;

const openaiFinish = {
  stop: 'stop',
  'tool-calls': 'tool_calls',
  length: 'length',
  'content-filter': 'content_filter',
};

export const openaiDialect: Dialect = {
  name: 'openai-chat',
  events({ reasoning, text = [], calls = [], finish }) {
    const chunk = (delta: object, finish_reason: string | null = null) =>
      data({ id: 'answer-1', model: 'seen', choices: [{ index: 0, delta, finish_reason }] });
    return [
      chunk({ role: 'assistant', content: '' }),
      ...(reasoning === undefined ? [] : [chunk({ reasoning_content: reasoning })]),
      ...text.map((content) => chunk({ content })),
      ...calls.flatMap(({ id, name, pieces }, index) => [
        chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
        ...pieces.map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
      ]),
      chunk({}, openaiFinish[finish]),
      data({
        choices: [],
        usage: { prompt_tokens: 1000, prompt_tokens_details: { cached_tokens: 600 }, completion_tokens: 50 },
      }),
      'data: [DONE]\n\n',
    ];
  },
  error: (code, message) => data({ error: { type: code, message } }),
  fault: (code, message) => JSON.stringify({ error: { type: code, message } }),
  sent(body) {
    const { messages }: { messages: OpenaiMessage[] } = JSON.parse(body);
    const of = (role: string) => messages.filter((message) => message.role === role);
    return {
      system: of('system')
        .map(({ content }) => content)
        .join(''),
      roles: messages.map(({ role }) => role),
      reasoning: of('assistant')
        .map(({ reasoning_content }) => reasoning_content)
        .find((one) => one !== undefined),
      inputs: of('assistant').flatMap(({ tool_calls = [] }) =>
        tool_calls.map((call) => call.function.arguments),
      ),
      results: of('tool').map(({ tool_call_id, content }) => [tool_call_id, content]),
    };
  },
};

const anthropicFinish = {
  stop: 'end_turn',
  'tool-calls': 'tool_use',
  length: 'max_tokens',
  'content-filter': 'refusal',
};

export const anthropicDialect: Dialect = {
  name: 'anthropic',
  events({ reasoning, text, calls = [], finish }) {
    let index = -1;
    const block = (content_block: object, deltas: readonly object[]) => {
      index += 1;
      return [
        event('content_block_start', { index, content_block }),
        ...deltas.map((delta) => event('content_block_delta', { index, delta })),
        event('content_block_stop', { index }),
      ];
    };
    const usage = {
      input_tokens: 400,
      cache_read_input_tokens: 600,
      cache_creation_input_tokens: 0,
      output_tokens: 1,
    };
    const message = {
      id: 'answer-1',
      type: 'message',
      role: 'assistant',
      model: 'seen',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage,
    };
    const stop = { stop_reason: anthropicFinish[finish], stop_sequence: null };
    return [
      event('message_start', { message }),
      event('ping'),
      ...(reasoning === undefined
        ? []
        : block({ type: 'thinking', thinking: '', signature: '' }, [
            { type: 'thinking_delta', thinking: reasoning },
            { type: 'signature_delta', signature: 'Signed==' },
          ])),
      ...(text === undefined
        ? []
        : block(
            { type: 'text', text: '' },
            text.map((part) => ({ type: 'text_delta', text: part })),
          )),
      ...calls.flatMap(({ id, name, pieces }) =>
        block(
          { type: 'tool_use', id, name, input: {} },
          ['', ...pieces].map((partial_json) => ({ type: 'input_json_delta', partial_json })),
        ),
      ),
      event('message_delta', { delta: stop, usage: { output_tokens: 50 } }),
      event('message_stop'),
    ];
  },
  error: (code, message) => event('error', { error: { type: code, message } }),
  fault: (code, message) => JSON.stringify({ type: 'error', error: { type: code, message } }),
  sent(body) {
    const {
      system,
      messages,
    }: { system?: { text: string }[]; messages: { role: string; content: AnthropicBlock[] }[] } =
      JSON.parse(body);
    const blocks = messages.flatMap(({ content }) => content);
    return {
      system: (system ?? []).map(({ text }) => text).join(''),
      roles: messages.map(({ role }) => role),
      reasoning: blocks.find(({ type }) => type === 'thinking'),
      inputs: blocks.filter(({ type }) => type === 'tool_use').map(({ input }) => input),
      results: blocks
        .filter(({ type }) => type === 'tool_result')
        .map(({ tool_use_id, content }) => [tool_use_id, textOf(content)]),
    };
  },
};

// One client sends a result as a text, another as one block of text.
function textOf(content: unknown): unknown {
  return Array.isArray(content) ? content.map((part: { text: string }) => part.text).join('') : content;
}
