/** What the sockets may use. Figures are per socket unless they say otherwise. */
export interface SocketLimits {
  /** Sockets in all, those included whose session is still being looked at. */
  maxConnections: number;
  maxPerUser: number;
  /** A longer frame closes with 1009. */
  maxFrameBytes: number;
  /** Bytes that may wait for a reader; with more it is dropped. */
  maxBacklogBytes: number;
  /** Publications that may wait for one user's sockets; with more they close with 4408. */
  maxWaiting: number;
  /** A frame counts as one, and as one more for each 8 KiB. */
  framesPerSecond: number;
  frameBurst: number;
  /** Frames that may be unanswered; further ones are refused with 429. */
  maxUnanswered: number;
  /** How often a sign of life is asked for; one that gave none until the next time is dropped. */
  heartbeatMs: number;
  /** How long the look at the session row may take before the answer is 503. */
  identifyMs: number;
  /** How long a client may take over its part of the closing handshake. */
  closeMs: number;
}

export const defaults: SocketLimits = {
  maxConnections: 20_000,
  maxPerUser: 10_000,
  // A message of 65,536 characters fits in any script.
  maxFrameBytes: 256 * 1024,
  maxBacklogBytes: 1024 * 1024,
  maxWaiting: 10_000,
  framesPerSecond: 50,
  frameBurst: 100,
  maxUnanswered: 32,
  heartbeatMs: 15_000,
  identifyMs: 2_000,
  closeMs: 1_000,
};

/** What a frame of that length counts as against `framesPerSecond`. */
export const frameCost = (bytes: number): number => 1 + Math.floor(bytes / 8192);
