import { contracts, type TunnelSettingsInput } from '../../src/client/index.js';
import { textFlag } from '../command.js';
import type { Context } from '../context.js';
import { requestFields, requestFrom } from '../fields.js';
import { secretFrom } from '../input.js';

const { set } = await contracts.tunnel();

/** The flags of the settings; the token is a secret, and none is made from it. */
export const settingFields = () => requestFields(set.body, ['token']);
export const settingFlags = {
  secretFile: textFlag('<file|->', 'Where the token of cloudflared or ngrok is'),
};

/** Settings from flags, `--data` and the file of the token. Usage: a field is missing or wrong. */
export const settingsFrom = async (
  context: Context,
  given: { fields: Record<string, unknown>; data?: string; secretFile?: string },
): Promise<TunnelSettingsInput> => {
  const { fields, data, secretFile } = given;
  const question = { ask: 'Token', instead: '--secret-file' };
  const token = secretFile && (await secretFrom(context, secretFile, question));
  const cleared = Object.entries(fields).map(([name, value]) => [
    name,
    value === 'null' ? null : value,
  ]);
  const filled = { fields: Object.fromEntries(cleared), data, more: { token } };
  return requestFrom(set.body, filled, context.at);
};
