import { gitea, github, gitlab } from './forges.js';
import type { ReplyPlatform } from './platform.js';
import { jira, linear, slackThread } from './trackers.js';

/** By the name of the preset. */
export const replyPlatforms = { github, gitlab, gitea, jira, linear, slack: slackThread };

/** Null for a URL of the owner. */
export const replyPlatform = (preset: keyof typeof replyPlatforms | 'url'): ReplyPlatform | null =>
  preset === 'url' ? null : replyPlatforms[preset];
