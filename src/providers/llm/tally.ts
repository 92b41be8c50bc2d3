import {
  ModelFailure,
  type ModelFailureKind,
  ModelRefusal,
  type ModelRequest,
  type ModelUsage,
  type Price,
} from './model.js';
import { estimateTokens } from './tokens.js';
import type { TokenUsage } from './usage.js';

/** The bytes per token of text that is not streamed token by token, as in `estimateTokens`. */
const BYTES_PER_TOKEN = 3;
/** The fewest pieces that show how an endpoint streams. */
const MIN_PIECES = 32;
/** The average bytes of a piece that is taken for one token. */
const TOKEN_BYTES = { least: 2, most: 6 };

export type ReplyTally = ReturnType<typeof createTally>;

/** Creates the state of one reply so far: its text, reasoning and tool arguments. */
export const createTally = () => {
  let bytes = 0;
  let pieces = 0;
  let hasReasoned = false;
  const reported: TokenUsage = {};
  const tally = {
    /** True if a reply with a success status has begun. */
    hasBegun: false,
    reported,
    /** True if reasoning was reported and none of it was shown. */
    hidesReasoning: false,
    begin: (): void => {
      tally.hasBegun = true;
    },
    add: (piece: string, kind?: 'reasoning'): void => {
      bytes += Buffer.byteLength(piece);
      pieces += piece === '' ? 0 : 1;
      hasReasoned ||= kind === 'reasoning';
    },
    tell: ({ inputTokens, outputTokens, reasoningTokens }: TokenUsage): void => {
      tally.reported = {
        ...atLeast('inputTokens', tally.reported.inputTokens, inputTokens),
        ...atLeast('outputTokens', tally.reported.outputTokens, outputTokens),
      };
      tally.hidesReasoning ||= (reasoningTokens ?? 0) > 0 && !hasReasoned;
    },
    bytes: (): number => bytes,
    /**
     * Returns the tokens of output. If the endpoint streams token by token, its pieces are counted;
     * otherwise the tokens are estimated at three bytes each.
     */
    tokens: (): number => {
      const size = bytes / pieces;
      const isByToken =
        pieces >= MIN_PIECES && size >= TOKEN_BYTES.least && size <= TOKEN_BYTES.most;
      return isByToken ? pieces : Math.ceil(bytes / BYTES_PER_TOKEN);
    },
  };
  return tally;
};

/** Returns the larger value; zero counts as not reported. */
const atLeast = (name: string, before = 0, now = 0) =>
  Math.max(before, now) > 0 ? { [name]: Math.max(before, now) } : {};

/** A failed call. */
export interface Failed {
  tally: ReplyTally;
  asked: ModelRequest;
  price: Price | undefined;
  /** False if the endpoint sends nothing before the whole reply is generated. */
  isStreamed: boolean;
  /** True if the model is known to reason without showing it. */
  hidesReasoning?: boolean;
}

/** Adds the usage of the call to its failure. Returns other errors unchanged. */
export const withUsage = (failure: unknown, failed: Failed, retryAfterMs?: number): unknown => {
  if (!(failure instanceof ModelFailure)) return failure;
  const { kind, message } = failure;
  const usage = usageOfFailed(failure, failed);
  return new ModelFailure(kind, message, retryAfterMs ?? failure.retryAfterMs, usage);
};

/**
 * Returns the usage of a failed call: the reported usage, else the part of the reply that was
 * seen, else the most that the reply may take. Undefined if the provider refused before any part
 * of a reply and reported no usage, or if it sent nothing at all.
 */
const usageOfFailed = (failure: ModelFailure, failed: Failed): ModelUsage | undefined => {
  const { tally, asked, price } = failed;
  const seen = tally.tokens();
  const reported =
    failure instanceof ModelRefusal && seen === 0 ? failure.reported : tally.reported;
  if (failure instanceof ModelRefusal) {
    if (seen === 0 && reported.inputTokens === undefined && reported.outputTokens === undefined)
      return;
  } else if (seen === 0 && !mayHaveCost(failure.kind, failed)) return;
  const inputTokens = reported.inputTokens ?? estimateTokens(asked.turns, asked.tools);
  const unseen = isUnseen(failure, failed) ? (asked.maxOutputTokens ?? 0) : 0;
  return usageWith(price, inputTokens, Math.max(reported.outputTokens ?? 0, seen, unseen));
};

/** True if the reply was cut off, so that the model may have reasoned further than was seen. */
const isUnseen = (failure: ModelFailure, { tally, hidesReasoning }: Failed): boolean =>
  !(failure instanceof ModelRefusal) &&
  CUT.includes(failure.kind) &&
  (tally.tokens() === 0 || hidesReasoning || tally.hidesReasoning);
const CUT: ModelFailureKind[] = ['timeout', 'aborted', 'server'];

/**
 * True if the call may have cost something: a reply began, the caller stopped the call, or a call
 * that is not streamed timed out.
 */
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
