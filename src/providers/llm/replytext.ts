import { isRecord, listAt, memberAt } from '../../kernel/jsonvalue.js';
import { ModelFailure, type ModelRequest, type ReplyReasoning } from './model.js';
import { createReasoningFilter } from './reasoningfilter.js';
import type { SdkReply } from './reply.js';
import { mayBecomeCall, parseCallsInText } from './writtencalls.js';

/** Their chat template often writes the opening mark itself. */
const REASONS_UNOPENED = /(?:^|[^a-z])(?:r1|qwq|think|thinking|reasoner|reasoning)(?:[^a-z]|$)/i;
/** Marks at the end of a turn, which a server with another chat template does not remove. */
const END_MARKS =
  /(?:\s*(?:<\|(?:im_end|eot_id|eom_id|end|return|endoftext|end_of_text)\|>|<end_of_turn>|<\/s>))+\s*$/;
/** Maximum characters of reasoning to keep. */
const MAX_KEPT = 262_144;

/** Learned from the name of the model or its replies. */
export interface ReasoningTraits {
  beginsInThought: boolean;
  /** Whether a reply has shown it, not only the name. */
  isShown: boolean;
}

export const guessReasoning = (modelId: string): ReasoningTraits => ({
  beginsInThought: REASONS_UNOPENED.test(modelId),
  isShown: false,
});

interface ReplyReaderOptions {
  name: string;
  modelId: string;
  request: Pick<ModelRequest, 'tools' | 'turns' | 'onText' | 'onRestart'>;
  traits: ReasoningTraits;
}

export type ReplyReader = ReturnType<typeof createReplyReader>;

/**
 * Separates reasoning and written calls from the text, and collects reasoning that the provider
 * requires.
 */
export const createReplyReader = ({ name, modelId, request, traits }: ReplyReaderOptions) => {
  let reasoning = '';
  let field: ReplyReasoning['field'] = null;
  const details: Record<string, unknown>[] = [];
  /** Text that may still become a call. Null once it is shown. */
  let held: string | null = '';

  const filter = createReasoningFilter({
    beginsInThought: traits.beginsInThought,
    onText: (piece) => {
      if (held !== null) held += piece;
      if (held !== null && mayBecomeCall(held.trimStart())) return;
      request.onText?.(held ?? piece);
      held = null;
    },
    onRestart: () => {
      if (held === null) request.onRestart?.();
      held = '';
    },
  });

  const keptReasoning = (reply: SdkReply): ReplyReasoning | undefined => {
    const signed = reply.toolCalls.some(({ signature }) => signature !== undefined);
    const hasReasoning = reasoning !== '' || details.length > 0 || signed;
    if (reply.toolCalls.length === 0 || !hasReasoning) return undefined;
    if (reasoning.length + JSON.stringify(details).length > MAX_KEPT) return undefined;
    return {
      model: name,
      modelId,
      text: reasoning,
      field,
      ...(details.length > 0 && { details }),
    };
  };

  return {
    take: filter.take,
    reasoning: (piece: string): void => {
      reasoning += piece;
      filter.reasoningCame();
    },
    /** Fields that the adapters ignore. */
    raw: (value: unknown): void => {
      const choice = listAt(value, 'choices')[0];
      const message = memberAt(choice, 'delta') ?? memberAt(choice, 'message');
      if (!isRecord(message)) return;
      for (const each of ['reasoning', 'reasoning_content'] as const) {
        if (typeof message[each] === 'string') field = each;
      }
      for (const detail of listAt(message, 'reasoning_details')) addDetail(details, detail);
    },
    /** Throws ModelFailure if the text is a call that cannot be run, or if there is only reasoning. */
    end: (reply: SdkReply): SdkReply => {
      filter.end(reply.finishReason === 'length');
      const text = filter.text().replace(END_MARKS, '');
      if (filter.isUnopened()) Object.assign(traits, { beginsInThought: true, isShown: true });
      else if (text !== '' && !traits.isShown) traits.beginsInThought = false;
      const isCall = reply.toolCalls.length === 0 && reply.finishReason !== 'length';
      const calls = isCall ? parseCallsInText(text, request) : null;
      if (calls === 'unreadable') {
        throw new ModelFailure(
          'invalid_reply',
          `${name} wrote a tool call as text. Try again or use another model`,
        );
      }
      if (isCall && text.trim() === '' && filter.isUnclosed()) {
        throw new ModelFailure(
          'invalid_reply',
          `${name} ended its reply within its reasoning, without an answer. Try again or use another model`,
        );
      }
      if (calls && held === null) request.onRestart?.();
      if (calls) return { ...reply, text: '', toolCalls: calls };
      if (held !== null && held !== '') request.onText?.(held);
      return { ...reply, text, reasoning: keptReasoning(reply) };
    },
  };
};

const PIECES = ['text', 'summary', 'data'];

/** A stream splits a detail into pieces of one type and index. */
const addDetail = (details: Record<string, unknown>[], detail: unknown): void => {
  if (!isRecord(detail)) return;
  const last = details.at(-1);
  const isPiece =
    detail.index !== undefined && last?.type === detail.type && last?.index === detail.index;
  if (!last || !isPiece) {
    details.push({ ...detail });
    return;
  }
  for (const [key, value] of Object.entries(detail)) {
    const before = last[key];
    const isJoined =
      PIECES.includes(key) && typeof before === 'string' && typeof value === 'string';
    if (isJoined) last[key] = before + value;
    else if (value !== null) last[key] = value;
  }
};
