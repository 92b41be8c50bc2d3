import {
  ModelFailure,
  type ModelFailureKind,
  ModelRefusal,
  type ModelRequest,
  type ModelUsage,
  type Price,
} from './model.js';
import { estimateTokens } from './tokens.js';
import type { ToldUsage } from './usage.js';

/** Bytes per token of what is not streamed token by token, as in `estimateTokens`. */
const BYTES_PER_TOKEN = 3;
/** Fewer pieces than these say nothing about how an endpoint streams. */
const FEWEST_PIECES = 32;
/** Average bytes of a piece between which it is taken for one token. */
const TOKEN_BYTES = { least: 2, most: 6 };

/** What has come of one answer so far: text, reasoning and arguments of tools alike. */
export interface ReplyTally {
  /** A reply with a status of success has begun. */
  hasBegun: boolean;
  told: ToldUsage;
  /** Reasoning was told of, and none of it was shown. */
  hidesReasoning: boolean;
  begin(): void;
  add(piece: string, kind?: 'reasoning'): void;
  tell(told: ToldUsage): void;
  bytes(): number;
  /**
   * Tokens of output. An endpoint that streams token by token counts them itself; all else is
   * estimated at three bytes a token.
   */
  tokens(): number;
}

export const createTally = (): ReplyTally => {
  let bytes = 0;
  let pieces = 0;
  let hasReasoned = false;
  const tally: ReplyTally = {
    hasBegun: false,
    told: {},
    hidesReasoning: false,
    begin: () => {
      tally.hasBegun = true;
    },
    add: (piece, kind) => {
      bytes += Buffer.byteLength(piece);
      pieces += piece === '' ? 0 : 1;
      hasReasoned ||= kind === 'reasoning';
    },
    tell: ({ inputTokens, outputTokens, reasoningTokens }) => {
      tally.told = {
        ...atLeast('inputTokens', tally.told.inputTokens, inputTokens),
        ...atLeast('outputTokens', tally.told.outputTokens, outputTokens),
      };
      tally.hidesReasoning ||= (reasoningTokens ?? 0) > 0 && !hasReasoned;
    },
    bytes: () => bytes,
    tokens: () => {
      const size = bytes / pieces;
      const isByToken =
        pieces >= FEWEST_PIECES && size >= TOKEN_BYTES.least && size <= TOKEN_BYTES.most;
      return isByToken ? pieces : Math.ceil(bytes / BYTES_PER_TOKEN);
    },
  };
  return tally;
};

/** Nought is not told. */
const atLeast = (name: string, before = 0, now = 0) =>
  Math.max(before, now) > 0 ? { [name]: Math.max(before, now) } : {};

/** A call that failed. */
export interface Failed {
  tally: ReplyTally;
  asked: ModelRequest;
  price: Price | undefined;
  /** False where nothing is sent before the whole answer is made. */
  isStreamed: boolean;
  /** The model is known to think without showing it. */
  hidesReasoning?: boolean;
}

/** The failure of a call, with what the call has come to. Other errors as they are. */
export const withUsage = (failure: unknown, failed: Failed, retryAfterMs?: number): unknown => {
  if (!(failure instanceof ModelFailure)) return failure;
  const { kind, message } = failure;
  const usage = usageOfFailed(failure, failed);
  return new ModelFailure(kind, message, retryAfterMs ?? failure.retryAfterMs, usage);
};

/**
 * What a call that failed has come to: the usage where it was told, else what was seen of the answer,
 * else all that the answer might take. Undefined where the provider refused before any part of an
 * answer and told no usage, or sent nothing at all.
 */
const usageOfFailed = (failure: ModelFailure, failed: Failed): ModelUsage | undefined => {
  const { tally, asked, price } = failed;
  const seen = tally.tokens();
  const told = failure instanceof ModelRefusal && seen === 0 ? failure.told : tally.told;
  if (failure instanceof ModelRefusal) {
    if (seen === 0 && told.inputTokens === undefined && told.outputTokens === undefined) return;
  } else if (seen === 0 && !mayHaveCost(failure.kind, failed)) return;
  const inputTokens = told.inputTokens ?? estimateTokens(asked.turns, asked.tools);
  const unseen = isUnseen(failure, failed) ? (asked.maxOutputTokens ?? 0) : 0;
  return usageWith(price, inputTokens, Math.max(told.outputTokens ?? 0, seen, unseen));
};

/** Cut off in the middle, so that the model may have thought further than was seen. */
const isUnseen = (failure: ModelFailure, { tally, hidesReasoning }: Failed): boolean =>
  !(failure instanceof ModelRefusal) &&
  CUT.includes(failure.kind) &&
  (tally.tokens() === 0 || hidesReasoning || tally.hidesReasoning);
const CUT: ModelFailureKind[] = ['timeout', 'aborted', 'server'];

/** A call that was ended by us is under way; one of which nothing came at all is not. */
const mayHaveCost = (kind: ModelFailureKind, { tally, isStreamed }: Failed): boolean =>
  tally.hasBegun || kind === 'aborted' || (kind === 'timeout' && !isStreamed);

export const usageWith = (
  price: Price | undefined,
  inputTokens: number,
  outputTokens: number,
): ModelUsage => ({
  inputTokens,
  outputTokens,
  costUsd: price
    ? (inputTokens * price.inputPerMTok + outputTokens * price.outputPerMTok) / 1_000_000
    : null,
});
