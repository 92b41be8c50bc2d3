import { discord } from './discord.js';
import { email } from './email.js';
import { mattermost } from './mattermost.js';
import { ntfy } from './ntfy.js';
import type { OutboundPlatform, Platform } from './platform.js';
import { slack } from './slack.js';
import { teams } from './teams.js';
import { telegram } from './telegram.js';
import { whatsapp } from './whatsapp.js';

/** The first platform of the endpoint that claims the headers gets the request. */
export const platforms: readonly Platform[] = [
  ...[slack, teams, mattermost, discord],
  ...[telegram, whatsapp],
];

export const outboundPlatforms: readonly OutboundPlatform[] = [...platforms, ntfy, email];
