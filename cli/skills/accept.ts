import { contracts, type SkillReply } from '../../src/client/index.js';
import { command } from '../command.js';
import { safe } from '../text.js';
import { skillColumns } from './columns.js';

const { accept } = await contracts.skills();

export const acceptTools = command({
  name: 'accept',
  args: '<server>',
  calls: [accept],
  examples: ['github', 'github --yes', 'github --yes --json'],
  notes: ['It shows what changed and asks; what was shown is what is accepted.'],
  run: async (context, { args }) => {
    const client = await context.client();
    const { id, pending } = await client.skills.get({ id: args.server });
    if (!pending) return context.out.note(`Nothing of ${safe(id)} waits to be accepted.`);
    for (const tool of pending.tools) for (const line of changeOf(tool)) context.out.note(line);
    await context.ask.confirm(`Let agents have these tools of ${safe(id)} as they are now?`);
    const skill = await client.skills.accept({ id, body: { digest: pending.digest } });
    context.out.done(`Accepted: ${safe(id)} is ${skill.status}.`, skill, skillColumns);
  },
});

type ToolChange = NonNullable<SkillReply['pending']>['tools'][number];

const changeOf = ({ name, before, after }: ToolChange): string[] => {
  if (!before) return [`${safe(name)} is new`, ...marked('+', after)];
  return [`${safe(name)} is changed`, ...marked('-', before), ...marked('+', after)];
};

const marked = (mark: string, { description, inputSchema }: ToolChange['after']): string[] =>
  [...description.split('\n'), JSON.stringify(inputSchema)].map(
    (line) => `  ${mark} ${safe(line)}`,
  );
