import { discord } from './discord.js';
import { email } from './email.js';
import { mattermost } from './mattermost.js';
import { ntfy } from './ntfy.js';
import type { OutboundPlatform, Platform } from './platform.js';
import { slack } from './slack.js';
import { teams } from './teams.js';
import { telegram } from './telegram.js';
import { whatsapp } from './whatsapp.js';

/**
 * The platforms where people write. A request belongs to the first platform of its endpoint that claims its headers.
 */
export const platforms: readonly Platform[] = [
  ...[slack, teams, mattermost, discord],
  ...[telegram, whatsapp],
];

/** All platforms, also those to which messages are only sent. */
export const outboundPlatforms: readonly OutboundPlatform[] = [...platforms, ntfy, email];
