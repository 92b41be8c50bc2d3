import type { Credential } from '../../../src/client/index.js';
import type { Act } from '../../state/act.js';

/** The acts on a credential. */

const on = ({ id }: Credential): Pick<Act, 'row' | 'touches'> => ({
  row: { list: 'credentials', id },
  touches: ['credentials'],
});

/**
 * Returns the act that rotates a credential. If the daemon makes the value, the value is shown in a
 * sheet of its own and stored nowhere else.
 */
export const rotateAct = (credential: Credential): Act => ({
  ...on(credential),
  text: `Rotate ${credential.name}`,
  line: `adjutant vault rotate ${credential.id}`,
  doing: 'rotating…',
  ask: {
    lines: [
      `Make a new value for ${credential.name}? It is shown once.`,
      'The one before stays good for an hour. A value of yours: adjutant vault rotate',
    ],
  },
  call: async (client) => {
    const reply = await client.vault.rotate({ id: credential.id, body: {} });
    const { version } = reply.credential;
    const said = `${credential.name} has version ${version}`;
    if (reply.value === undefined) return said;
    const title = `New value of ${credential.name}, version ${version}. It will not be shown again.`;
    return { said, secret: { title, value: reply.value } };
  },
});

/**
 * Returns the act that puts the earlier value back, which is possible while that value is still
 * valid.
 */
export const restoreAct = (credential: Credential): Act => ({
  ...on(credential),
  text: `Use the earlier value of ${credential.name}`,
  line: `adjutant vault restore ${credential.id}`,
  doing: 'restoring…',
  ask: {
    lines: [
      `Use the value of ${credential.name} that was replaced last?`,
      'It becomes a new version. The value used now stays good for an hour.',
    ],
  },
  call: async (client) => {
    const { version } = await client.vault.restore({ id: credential.id, body: {} });
    return `${credential.name} has version ${version}, with the earlier value`;
  },
});

export const remove = (credential: Credential): Act => ({
  ...on(credential),
  text: `Delete credential ${credential.name}`,
  line: `adjutant vault delete ${credential.id}`,
  doing: 'deleting…',
  ask: {
    lines: [
      `Delete ${credential.name} and all its versions?`,
      'What uses it fails from then on. There is no undo.',
    ],
    name: credential.name,
  },
  call: async (client) => {
    await client.vault.delete({ id: credential.id });
    return `${credential.name} is deleted`;
  },
});
