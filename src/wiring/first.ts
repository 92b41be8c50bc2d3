import { Registration } from '../accounts/auth/contract.js';
import { faultOfPassword } from '../accounts/auth/policy.js';
import type { AuthStore } from '../accounts/auth/queries.js';
import { insertUser } from '../accounts/auth/register.js';
import { firstTakesCode } from '../accounts/auth/rules.js';
import { openSetupCode, type SetupCode } from '../accounts/auth/setupcode.js';
import { type Config, variableOf } from '../config.js';
import type { Clock } from '../kernel/clock.js';
import type { Passwords } from '../kernel/password.js';
import { OpenRefused } from '../store/engine/protocol.js';
import type { Tunnel } from '../system/tunnel/tunnel.js';
import { exposureOf } from './tunnel.js';

/**
 * A setup code where there is no account yet, and where the daemon is not purely local, whatever the
 * registration setting, or the setting lets nobody in.
 */
export const makeSetupCode = async (deps: {
  config: Config;
  users: AuthStore;
  tunnel: Tunnel;
  clock: Clock;
}): Promise<SetupCode> => {
  const { config, users, tunnel, clock } = deps;
  const isNeeded = firstTakesCode(exposureOf(config, tunnel)) && !(await users.hasUsers());
  return openSetupCode({ home: config.home, clock, isNeeded });
};

/** The admin of a machine without a person, from the settings; only where nobody is there yet. */
export const makeFirstAccount = async (deps: {
  config: Config;
  users: AuthStore;
  passwords: Passwords;
  clock: Clock;
}): Promise<void> => {
  const { adminUsername: username, adminPassword: password } = deps.config;
  if (username === null || (await deps.users.hasUsers())) return;
  const names = `${variableOf('adminUsername')} and ${variableOf('adminPassword')}`;
  const { error, value } = Registration.validate({ username, password: password ?? undefined });
  if (error) throw new OpenRefused(`${names} make the first account: ${error.message}`);
  const fault = await faultOfPassword({ password: value.password, names: [value.username] });
  if (fault !== null)
    throw new OpenRefused(`${names} make the first account: the password ${fault}`);
  await insertUser({ ...deps, also: () => [] }, value);
};
