/**
 * How often the cause of a message has passed through this daemon. Sent with our requests, and
 * returned with the deliveries they cause, so that two systems that trigger each other can be
 * detected.
 */
export const HOPS_HEADER = 'x-adjutant-hops';
export const MAX_HOPS = 10;

export const hopsIn = (headers: Record<string, unknown>): number => {
  const value = headers[HOPS_HEADER];
  return typeof value === 'string' && /^\d{1,4}$/.test(value) ? Number(value) : 0;
};

export const hopHeader = (hops = 0): Record<string, string> => ({
  [HOPS_HEADER]: String(hops + 1),
});
