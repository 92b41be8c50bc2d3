import { discord } from './discord.js';
import { mattermost } from './mattermost.js';
import type { Platform } from './platform.js';
import { slack } from './slack.js';
import { teams } from './teams.js';
import { telegram } from './telegram.js';
import { whatsapp } from './whatsapp.js';

/**
 * All platforms. A request belongs to the first platform of its endpoint that claims its headers.
 */
export const platforms: readonly Platform[] = [
  ...[slack, teams, mattermost, discord],
  ...[telegram, whatsapp],
];
