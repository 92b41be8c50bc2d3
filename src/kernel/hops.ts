/**
 * The header with the number of times that the cause of a message has come back to this daemon. We
 * send it with our requests, and it returns with the deliveries that they cause. So two systems
 * that keep triggering each other can be distinguished from ordinary traffic.
 */
export const HOPS_HEADER = 'x-adjutant-hops';
/** The number of hops at which the loop is broken. */
export const MAX_HOPS = 10;

/** Returns the hops that a request states, or 0 without a valid number. */
export const hopsIn = (headers: Record<string, unknown>): number => {
  const value = headers[HOPS_HEADER];
  return typeof value === 'string' && /^\d{1,4}$/.test(value) ? Number(value) : 0;
};

/** Returns the header for a request whose cause has made `hops` hops so far. It states one more. */
export const hopHeader = (hops = 0): Record<string, string> => ({
  [HOPS_HEADER]: String(hops + 1),
});
