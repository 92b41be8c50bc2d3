/** The limits of the sockets. Figures are per socket unless they say otherwise. */
export interface SocketLimits {
  /** Sockets in all, including those whose session is still being read. */
  maxConnections: number;
  maxPerUser: number;
  /** Bytes of a frame; a longer one closes with 1009. */
  maxFrameBytes: number;
  /** Bytes that may wait for a reader; with more, the reader is dropped. */
  maxBacklogBytes: number;
  /** Publications that may wait for one user's sockets; with more, they close with 4408. */
  maxWaiting: number;
  /** Frames per second; a frame counts as one, and as one more for each 8 KiB. */
  framesPerSecond: number;
  frameBurst: number;
  /** Frames that may wait for a reply; further ones are refused with 429. */
  maxUnanswered: number;
  /** Time between two heartbeats; a client that has not answered by the next one is dropped. */
  heartbeatMs: number;
  /** Time for the read of the session row before the reply is 503. */
  identifyMs: number;
  /** Time for the client's part of the closing handshake. */
  closeMs: number;
}

export const defaults: SocketLimits = {
  maxConnections: 20_000,
  maxPerUser: 10_000,
  // Enough for a message of 65,536 characters in any script.
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

/** Returns the cost of a frame of that length against `framesPerSecond`. */
export const frameCost = (bytes: number): number => 1 + Math.floor(bytes / 8192);
