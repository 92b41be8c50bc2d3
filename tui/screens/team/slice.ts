import type { AccessToken, Account, LoginSession } from '../../../src/client/index.js';
import type { Act } from '../../state/act.js';

/** The acts on users, login sessions and tokens. */

export const disableUserAct = ({ id, username }: Account): Act => ({
  text: `Disable user ${username}`,
  line: `adjutant users disable ${id}`,
  doing: 'disabling…',
  row: { list: 'users', id },
  touches: ['users'],
  ask: { lines: [`Disable ${username}? Sessions, tokens, sockets and agents end at once.`] },
  call: async (client) => {
    await client.users.update({ id, body: { disabled: true } });
    return `${username} is disabled`;
  },
});

export const enableUserAct = ({ id, username }: Account): Act => ({
  text: `Enable user ${username}`,
  line: `adjutant users enable ${id}`,
  doing: 'enabling…',
  row: { list: 'users', id },
  touches: ['users'],
  call: async (client) => {
    await client.users.update({ id, body: { disabled: false } });
    return `${username} is enabled`;
  },
});

export const endLoginAct = ({ id, device }: LoginSession): Act => ({
  text: `End session ${device ?? 'without a name'}`,
  line: `adjutant auth sessions delete ${id}`,
  doing: 'ending…',
  row: { list: 'logins', id },
  touches: ['logins'],
  ask: { lines: [`End the session ${device ?? id}? Its sockets end at once.`] },
  call: async (client) => {
    await client.logins.delete({ id });
    return 'It has ended';
  },
});

export const revoke = ({ id, name }: AccessToken): Act => ({
  text: `Revoke token ${name}`,
  line: `adjutant auth tokens delete ${id}`,
  doing: 'revoking…',
  row: { list: 'tokens', id },
  touches: ['tokens'],
  ask: { lines: [`Revoke ${name}? The program that has it is out at once.`], name },
  call: async (client) => {
    await client.tokens.delete({ id });
    return `${name} is revoked`;
  },
});
