import type { Base } from '../base.js';
import { createHub, type Hub } from './hub.js';

export { type Hub, readOrWait } from './hub.js';

export const openRealtime = ({ clock }: Pick<Base, 'clock'>): Hub => createHub(clock);
