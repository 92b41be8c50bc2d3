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

/** As in `estimateTokens`. */
const BYTES_PER_TOKEN = 3;
/** Minimum pieces that reveal how an endpoint streams. */
const MIN_PIECES = 32;
/** Average size of a piece that counts as one token. */
const TOKEN_BYTES = { least: 2, most: 6 };

export type ReplyTally = ReturnType<typeof createTally>;

export const createTally = () => {
  let bytes = 0;
  let pieces = 0;
  let hasReasoned = false;
  const reported: TokenUsage = {};
  const tally = {
    /** Whether a successful reply has started. */
    hasBegun: false,
    reported,
    /** Whether reasoning was reported but not shown. */
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
     * Counts pieces if the endpoint streams token by token. Otherwise estimates three bytes per
     * token.
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

const atLeast = (name: string, before = 0, now = 0) =>
  Math.max(before, now) > 0 ? { [name]: Math.max(before, now) } : {};

export interface FailedCall {
  tally: ReplyTally;
  request: ModelRequest;
  price: Price | undefined;
  /** False if nothing is sent before the reply is complete. */
  isStreamed: boolean;
  /** Whether the model reasons invisibly. */
  hidesReasoning?: boolean;
}

/** Returns other errors unchanged. */
export const withUsage = (failure: unknown, failed: FailedCall, retryAfterMs?: number): unknown => {
  if (!(failure instanceof ModelFailure)) return failure;
  const { kind, message } = failure;
  const usage = usageOfFailed(failure, failed);
  return new ModelFailure(kind, message, retryAfterMs ?? failure.retryAfterMs, usage);
};

/**
 * The reported usage, otherwise the part that was seen, otherwise the maximum. Undefined if the
 * provider refused or sent nothing, without reporting usage.
 */
const usageOfFailed = (failure: ModelFailure, failed: FailedCall): ModelUsage | undefined => {
  const { tally, request, price } = failed;
  const seen = tally.tokens();
  const reported =
    failure instanceof ModelRefusal && seen === 0 ? failure.reported : tally.reported;
  if (failure instanceof ModelRefusal) {
    if (seen === 0 && reported.inputTokens === undefined && reported.outputTokens === undefined)
      return;
  } else if (seen === 0 && !mayHaveCost(failure.kind, failed)) return;
  const inputTokens = reported.inputTokens ?? estimateTokens(request.turns, request.tools);
  const unseen = isUnseen(failure, failed) ? (request.maxOutputTokens ?? 0) : 0;
  return usageWith(price, inputTokens, Math.max(reported.outputTokens ?? 0, seen, unseen));
};

/** Whether a cut reply may contain unseen reasoning. */
const isUnseen = (failure: ModelFailure, { tally, hidesReasoning }: FailedCall): boolean =>
  !(failure instanceof ModelRefusal) &&
  CUT.includes(failure.kind) &&
  (tally.tokens() === 0 || hidesReasoning || tally.hidesReasoning);
const CUT: ModelFailureKind[] = ['timeout', 'aborted', 'server'];

/** A reply started, the caller aborted, or a call without streaming timed out. */
const mayHaveCost = (kind: ModelFailureKind, { tally, isStreamed }: FailedCall): boolean =>
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
