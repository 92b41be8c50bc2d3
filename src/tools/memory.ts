import * as s from '../kernel/contract/schema.js';
import { type MemoryActions, memoryAbout, memoryText } from '../memories/module.js';
import { defineTool, HARMLESS, ToolFailed, type ToolGroup } from './tool.js';

const MAX_FOUND = 20;

const saving = s.object('MemorySaveInput', {
  text: memoryText().description(
    'One fact or wish, in a sentence that is understood without this conversation',
  ),
  about: s.optional(memoryAbout().description('What it is about; fact unless given')),
});
const searching = s.object('MemorySearchInput', {
  query: s.text(500).description('Words that stand in it'),
  limit: s.optional(s.whole(1, MAX_FOUND).description('10 unless given')),
});
const forgetting = s.object('MemoryForgetInput', {
  id: s.text(80).description('The id of the memory, from memory.search'),
});

/** Creates the tools with which agents remember things for their owner. */
export const memoryTools = (memories: MemoryActions): ToolGroup => ({
  skillId: 'memory',
  description: 'What the owner wants to be remembered between conversations',
  tools: [
    defineTool({
      skillId: 'memory',
      name: 'save',
      description:
        'Remembers one fact or wish of the owner for later conversations. Save what the owner says ' +
        'about themselves, their projects and how they want things done, not what this task is about. ' +
        'After text from outside was read, the owner must confirm it first: `confirmed` says so.',
      input: saving,
      ...HARMLESS,
      run: async ({ text, about = 'fact' }, { userId, agentId, executionId }) => {
        const kept = await memories.save(userId, { text, about, agentId, executionId });
        if (!kept)
          throw new ToolFailed('The limit of memories is reached. Forget some first.', false);
        return kept;
      },
    }),
    defineTool({
      skillId: 'memory',
      name: 'search',
      description:
        'Finds what is remembered of the owner, the best match first. Returns ' +
        '{ memories: [{ id, text, about }] }.',
      input: searching,
      ...HARMLESS,
      run: async ({ query, limit = 10 }, { userId }) => ({
        memories: await memories.search(userId, query, limit),
      }),
    }),
    defineTool({
      skillId: 'memory',
      name: 'forget',
      description: 'Forgets one memory for good, when the owner wants it or it is no longer true.',
      input: forgetting,
      ...HARMLESS,
      sideEffects: true,
      run: async ({ id }, { userId }) => {
        if (await memories.forget(userId, id)) return { forgotten: id };
        throw new ToolFailed(`No memory with the ID ${id}`, false);
      },
    }),
  ],
});
