/**
 * How often what caused a message came back to this daemon. It goes with what we send, and comes back
 * with what that fires here, so that two that keep each other busy are told from ordinary work.
 */
const HEADER = 'x-adjutant-hops';
/** At so many the circle is broken. */
export const MOST_HOPS = 10;

/** What a request says of it; 0 where it says nothing, or what makes no sense. */
export const hopsIn = (headers: Record<string, unknown>): number => {
  const told = headers[HEADER];
  return typeof told === 'string' && /^\d{1,4}$/.test(told) ? Number(told) : 0;
};

/** The header of what is sent on account of something that came back so often. */
export const hopsOnward = (hops = 0): Record<string, string> => ({ [HEADER]: String(hops + 1) });
