import { createHub, type Hub } from './hub.js';

export { type Hub, readOrWait } from './hub.js';

/** Opens the hub, through which the modules publish events to the sockets and to waiting requests. */
export const openRealtime = (): Hub => createHub();
