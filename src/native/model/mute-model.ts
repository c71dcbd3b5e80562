/** A model that writes messages as a recorded one did and can be asked nothing: enough to settle what a run left open. */
import type { Message } from '../../protocol/messages.ts';
import { unknownUsage } from '../../protocol/usage.ts';
import { anthropic } from '../../wire/anthropic.ts';
import { openaiChat } from '../../wire/openai-chat.ts';
import { messageText } from './ai-sdk-body.ts';
import type { Model } from './model.ts';

const writers: Readonly<Record<string, (message: Message) => string>> = {
  'openai-chat': openaiChat({ outputLimit: 'max_tokens' }).message,
  anthropic: anthropic().message,
  'ai-sdk': messageText,
};

/** `wire` is the name in the record; undefined for one whose messages this Writ cannot write. */
export function muteModel(id: string, wire: string): Model | undefined {
  const message = Object.hasOwn(writers, wire) ? writers[wire] : undefined;
  return message === undefined ? undefined : mute(id, wire, message);
}

/** The model of a run that asks none. No spec can name it, and it costs nothing, so that any limit of cost is kept. */
export const noModel: Model = {
  ...mute('none', 'none', (message) => JSON.stringify(message)),
  price: { prompt: 0, completion: 0 },
};

function mute(id: string, wire: string, message: Model['message']): Model {
  return {
    ...{ id, name: id, wire, url: '', price: null, settings: {}, message, tools: () => '', body: () => '' },
    async send() {
      const error = {
        code: 'model.cancelled',
        kind: 'failed',
        message: 'Nothing is asked any more.',
      } as const;
      const none = { httpStatus: null, raw: null, retryAfterMs: null, retryable: false };
      return { ok: false, error, dispatched: 'no', usage: unknownUsage, ...none };
    },
    close: async () => {},
  };
}
