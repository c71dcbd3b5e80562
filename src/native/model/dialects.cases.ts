/** One answer in each dialect that servers speak, and what a request in each says, so that one suite holds all models. */

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
  readonly name: 'openai-chat' | 'openai-responses' | 'anthropic' | 'gemini';
  /** Arguments are a text that may be anything, or an object, of which the text is written anew. */
  readonly arguments: 'text' | 'object';
  /** A parameter that a body has of its own. */
  readonly reserved: string;
  /** Of a conversation with one batch of two calls: what stands where its reasoning was, and the roles of what was sent. */
  readonly back: { readonly reasoning: unknown; readonly roles: readonly string[] };
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
  arguments: 'text',
  reserved: 'messages',
  back: { reasoning: 'Hm, 漢😀: let me see.', roles: ['system', 'user', 'assistant', 'tool', 'tool'] },
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
  arguments: 'text',
  reserved: 'messages',
  back: {
    reasoning: { type: 'thinking', thinking: 'Hm, 漢😀: let me see.', signature: 'Signed==' },
    roles: ['user', 'assistant', 'user'],
  },
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

interface ResponsesItem {
  readonly type: string;
  readonly role?: string;
  readonly content?: readonly { readonly text: string }[];
  readonly arguments?: string;
  readonly call_id?: string;
  readonly output?: string;
}

export const responsesDialect: Dialect = {
  name: 'openai-responses',
  arguments: 'text',
  reserved: 'input',
  back: {
    reasoning: {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'Hm, 漢😀: let me see.' }],
      encrypted_content: 'Sealed==',
    },
    roles: [
      'system',
      'user',
      'reasoning',
      'assistant',
      'function_call',
      'function_call',
      'function_call_output',
      'function_call_output',
    ],
  },
  events({ reasoning, text, calls = [], finish }) {
    const head = { id: 'answer-1', object: 'response', model: 'seen' };
    const output: object[] = [];
    const events = [event('response.created', { response: { ...head, status: 'in_progress', output: [] } })];
    const item = (begun: object, deltas: readonly [type: string, delta: string][], whole: object) => {
      const output_index = output.length;
      output.push(whole);
      events.push(
        event('response.output_item.added', { output_index, item: begun }),
        ...deltas.map(([type, delta]) => event(type, { output_index, content_index: 0, delta })),
        event('response.output_item.done', { output_index, item: whole }),
      );
    };
    if (reasoning !== undefined) {
      const begun = { type: 'reasoning', id: 'rs_1', summary: [] };
      item(begun, [['response.reasoning_summary_text.delta', reasoning]], {
        ...begun,
        summary: [{ type: 'summary_text', text: reasoning }],
        encrypted_content: 'Sealed==',
      });
    }
    if (text !== undefined) {
      const begun = { type: 'message', id: 'msg_1', role: 'assistant', content: [] };
      const content = [{ type: 'output_text', text: text.join(''), annotations: [] }];
      const deltas = text.map((part): [string, string] => ['response.output_text.delta', part]);
      item(begun, deltas, { ...begun, status: 'completed', content });
    }
    for (const { id, name, pieces } of calls) {
      const begun = { type: 'function_call', id: `fc_${id}`, call_id: id, name, arguments: '' };
      const deltas = pieces.map((piece): [string, string] => [
        'response.function_call_arguments.delta',
        piece,
      ]);
      item(begun, deltas, { ...begun, arguments: pieces.join('') });
    }
    const reasons: Record<string, string> = {
      length: 'max_output_tokens',
      'content-filter': 'content_filter',
    };
    const reason = reasons[finish];
    const status = reason === undefined ? 'completed' : 'incomplete';
    const usage = {
      input_tokens: 1000,
      input_tokens_details: { cached_tokens: 600 },
      output_tokens: 50,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 1050,
    };
    const incomplete_details = reason === undefined ? null : { reason };
    const response = { ...head, status, output, usage, incomplete_details };
    return [...events, event(`response.${status}`, { response })];
  },
  error: (code, message) => event('error', { code, message }),
  fault: (code, message) => JSON.stringify({ error: { type: code, message } }),
  sent(body) {
    const { input }: { input: ResponsesItem[] } = JSON.parse(body);
    const of = (type: string) => input.filter((item) => item.type === type);
    return {
      system: of('message')
        .filter(({ role }) => role === 'system')
        .map(({ content = [] }) => content.map(({ text }) => text).join(''))
        .join(''),
      roles: input.map(({ role, type }) => role ?? type),
      reasoning: of('reasoning')[0],
      inputs: of('function_call').map((call) => call.arguments),
      results: of('function_call_output').map(({ call_id, output }) => [call_id, output]),
    };
  },
};

interface GeminiPart {
  readonly text?: string;
  readonly thought?: boolean;
  readonly functionCall?: { readonly args: unknown };
  readonly functionResponse?: { readonly id: unknown; readonly response: { readonly result: unknown } };
}

const geminiFinish = { stop: 'STOP', 'tool-calls': 'STOP', length: 'MAX_TOKENS', 'content-filter': 'SAFETY' };

export const geminiDialect: Dialect = {
  name: 'gemini',
  arguments: 'object',
  reserved: 'contents',
  back: {
    reasoning: { text: 'Hm, 漢😀: let me see.', thought: true },
    roles: ['user', 'model', 'user'],
  },
  events({ reasoning, text = [], calls = [], finish }) {
    const chunk = (parts: readonly string[], more = '') =>
      `data: {"candidates":[{"content":{"role":"model","parts":[${parts.join(',')}]}${more}}],"modelVersion":"seen","responseId":"answer-1"`;
    const parts = [
      ...(reasoning === undefined ? [] : [JSON.stringify({ text: reasoning, thought: true })]),
      ...text.map((part) => JSON.stringify({ text: part })),
      // Written as text: an object of JavaScript would have rounded a long integer.
      ...calls.map(
        ({ id, name, pieces }, at) =>
          `{"functionCall":{"id":${JSON.stringify(id)},"name":${JSON.stringify(name)},"args":${pieces.join('') || '{}'}}${at === 0 ? ',"thoughtSignature":"Signed=="' : ''}}`,
      ),
    ];
    const usage = {
      promptTokenCount: 1000,
      cachedContentTokenCount: 600,
      candidatesTokenCount: 50,
      totalTokenCount: 1050,
    };
    return [
      ...parts.map((part) => `${chunk([part])}}\n\n`),
      `${chunk([], `,"finishReason":"${geminiFinish[finish]}"`)},"usageMetadata":${JSON.stringify(usage)}}\n\n`,
    ];
  },
  error: (status, message) => data({ error: { code: 503, status, message } }),
  fault: (status, message) => JSON.stringify([{ error: { code: 400, status, message } }]),
  sent(body) {
    const {
      systemInstruction,
      contents,
    }: { systemInstruction?: { parts: GeminiPart[] }; contents: { role: string; parts: GeminiPart[] }[] } =
      JSON.parse(body);
    const parts = contents.flatMap((content) => content.parts);
    return {
      system: (systemInstruction?.parts ?? []).map(({ text }) => text).join(''),
      roles: contents.map(({ role }) => role),
      reasoning: parts.find(({ thought }) => thought === true),
      inputs: parts.flatMap(({ functionCall }) => (functionCall === undefined ? [] : [functionCall.args])),
      results: parts.flatMap(({ functionResponse: found }) =>
        found === undefined ? [] : [[found.id, found.response.result] as const],
      ),
    };
  },
};

// One client sends a result as a text, another as one block of text.
function textOf(content: unknown): unknown {
  return Array.isArray(content) ? content.map((part: { text: string }) => part.text).join('') : content;
}
