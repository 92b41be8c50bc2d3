import { textFlag } from '../command.js';
import type { Context } from '../context.js';
import { usageFault } from '../exit.js';
import { secretFrom } from '../input.js';

const secret = (about: string) => textFlag('<file|->', about);

/**
 * The settings of the platforms, each by the flag that carries it. A secret has none but for the file
 * that it is in: what stands on a command line is seen by other users of the machine.
 */
export const fieldFlags = {
  baseUrl: textFlag('<url>', 'Another address of its API; Mattermost: that of your server'),
  phoneNumberId: textFlag('<id>', 'WhatsApp: the phone number ID'),
  botTokenFile: secret('Slack, Telegram, Mattermost: the token of the bot'),
  signingSecretFile: secret('Slack: the signing secret'),
  webhookSecretFile: secret('Telegram: of your own choice'),
  commandTokensFile: secret('Mattermost: the tokens of its commands and webhooks'),
  securityTokenFile: secret('Teams: the security token of the outgoing webhook'),
  workflowUrlFile: secret('Teams: the URL of the workflow'),
  appSecretFile: secret('WhatsApp: the app secret'),
  verifyTokenFile: secret('WhatsApp: of your own choice'),
  accessTokenFile: secret('WhatsApp: the access token'),
};

export type FieldFlags = { [K in keyof typeof fieldFlags]?: string };

const SUFFIX = 'File';

/** `--bot-token-file` for the secret `botToken`, `--phone-number-id` for what is none. */
export const flagOf = ({ name, isSecret }: { name: string; isSecret: boolean }): string =>
  `--${`${name}${isSecret ? SUFFIX : ''}`.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Values of the flags by the names of the API; secrets are read. Usage: stdin is asked for twice. */
export const readPlatformFields = async (
  context: Context,
  { baseUrl: _, ...flags }: FieldFlags,
): Promise<Record<string, string>> => {
  const given = Object.entries(flags).filter(([, value]) => value !== undefined);
  if (given.filter(([, value]) => value === '-').length > 1) {
    throw usageFault('Only one of them can be on stdin; give the others as files.');
  }
  const fields: Record<string, string> = {};
  for (const [flag, value] of given) {
    const name = flag.replace(/File$/, '');
    fields[name] = flag === name ? value : await readSecret(context, name, value);
  }
  return fields;
};

const readSecret = (context: Context, name: string, file: string): Promise<string> =>
  secretFrom(context, file, { ask: name, instead: flagOf({ name, isSecret: true }) });
