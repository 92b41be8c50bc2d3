import { type Config, toVariableName } from '../../config.js';
import type { Clock } from '../../kernel/clock.js';
import type { Passwords } from '../../kernel/password.js';
import { OpenRefused } from '../../store/engine/protocol.js';
import { Registration } from './contract.js';
import { passwordFault } from './policy.js';
import type { AuthStore } from './queries.js';
import { insertUser } from './register.js';

export const makeFirstAccount = async (deps: {
  config: Config;
  users: AuthStore;
  passwords: Passwords;
  clock: Clock;
}): Promise<void> => {
  const { users, passwords, clock } = deps;
  const { adminUsername: username, adminPassword: password } = deps.config;
  if (username === null || (await users.hasUsers())) return;
  const names = `${toVariableName('adminUsername')} and ${toVariableName('adminPassword')}`;
  const { error, value } = Registration.validate({ username, password: password ?? undefined });
  if (error) throw new OpenRefused(`${names} cannot create the first account: ${error.message}`);
  const fault = await passwordFault({ password: value.password, names: [value.username] });
  if (fault !== null)
    throw new OpenRefused(`${names} cannot create the first account: the password ${fault}`);
  await insertUser({ users, passwords, clock, also: () => [] }, value);
};
