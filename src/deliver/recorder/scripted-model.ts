/** The scripted model: a real HTTP server on loopback that speaks all four protocols and answers by a given script. */
import { type ChatCompletionRequest, LLMock } from '@copilotkit/aimock';

/** What the script decides by: the request in the form of OpenAI's chat protocol, whatever it came as. */
export type ScriptedAsk = ChatCompletionRequest;

export type ScriptedAnswer =
  | { readonly text: string; readonly call?: { readonly name: string; readonly arguments: string } }
  /** An error of the provider instead of an answer. */
  | { readonly status: number }
  /** The connection ends in the middle of this text. */
  | { readonly cut: string };

export interface ScriptedModel {
  /** Without a path: each protocol stands where its provider has it. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts it on a free port. Equal requests get equal answers if the script gives them. */
export async function startScriptedModel(
  script: (ask: ScriptedAsk) => ScriptedAnswer,
): Promise<ScriptedModel> {
  const server = new LLMock({ port: 0, host: '127.0.0.1', strict: true, chunkSize: 8, journalMaxEntries: 1 });
  server.on(
    { predicate: (ask) => 'cut' in script(ask) },
    (ask: ScriptedAsk) => ({ content: textOf(script(ask)) }),
    { truncateAfterChunks: 3 },
  );
  server.on({ predicate: () => true }, (ask: ScriptedAsk) => {
    const answer = script(ask);
    if ('status' in answer) {
      return { status: answer.status, error: { message: `scripted ${answer.status}`, type: 'scripted' } };
    }
    const content = textOf(answer);
    if (!('call' in answer) || answer.call === undefined) return { content };
    return { content, toolCalls: [{ ...answer.call }] };
  });
  await server.start();
  return { url: server.url, stop: () => server.stop() };
}

function textOf(answer: ScriptedAnswer): string {
  if ('cut' in answer) return answer.cut;
  return 'text' in answer ? answer.text : '';
}
