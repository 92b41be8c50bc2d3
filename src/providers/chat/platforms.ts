import { mattermost } from './mattermost.js';
import type { Platform } from './platform.js';
import { slack } from './slack.js';
import { teams } from './teams.js';
import { telegram } from './telegram.js';
import { whatsapp } from './whatsapp.js';

/** Every platform. A request is of the first at its door whose headers it carries. */
export const platforms: readonly Platform[] = [slack, teams, mattermost, telegram, whatsapp];
