import { createHub, type Hub } from './hub.js';

export { type Hub, readOrWait } from './hub.js';

export const openRealtime = (): Hub => createHub();
