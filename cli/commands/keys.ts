import { contracts } from '../../src/client/index.js';
import { type CommandGroup, command } from '../command.js';

const { rotate } = await contracts.keys();

const rotateKeys = command({
  name: 'rotate',
  calls: [rotate],
  examples: ['', '--json', '--quiet'],
  notes: ['For admins. Nobody is logged out: tokens of the old key are good until they end.'],
  run: async (context) => {
    const made = await (await context.client()).keys.rotate();
    context.out.done(
      `${made.keyId} signs from now on. Older keys that verify: ${made.retired}.`,
      made,
      [
        { name: 'key', value: ({ keyId }) => keyId },
        { name: 'created', value: ({ createdAt }) => createdAt },
        { name: 'retired', value: ({ retired }) => retired },
      ],
    );
  },
});

export const keysGroup: CommandGroup = {
  summary: 'The keys that sign tokens',
  commands: [rotateKeys],
};
