import * as s from '../kernel/contract/schema.js';
import { type MemoryActions, memoryAbout, memoryText } from '../memories/module.js';
import { defineTool, HARMLESS, ToolFailed, type ToolGroup } from './tool.js';

const MAX_FOUND = 20;

const saving = s.object('MemorySaveInput', {
  text: memoryText().description('One sentence that is clear without this conversation'),
  about: s.optional(memoryAbout().description('Subject of the memory. Defaults to fact.')),
});
const searching = s.object('MemorySearchInput', {
  query: s.text(500).description('Words to search for'),
  limit: s.optional(s.integer(1, MAX_FOUND).description('Defaults to 10.')),
});
const forgetting = s.object('MemoryForgetInput', {
  id: s.text(80).description('ID from memory.search'),
});

export const memoryTools = (memories: MemoryActions): ToolGroup => ({
  skillId: 'memory',
  description: 'Memories of the owner across conversations',
  tools: [
    defineTool({
      skillId: 'memory',
      name: 'save',
      description:
        'Save one fact or preference of the owner for later conversations: about themselves, their ' +
        'projects and how they want things done. Do not save details of the current task. If ' +
        '`confirmed` is false, the owner must confirm the memory first.',
      input: saving,
      ...HARMLESS,
      run: async ({ text, about = 'fact' }, { userId, agentId, executionId, runId }) => {
        const caller = { agentId, executionId, runId };
        const kept = await memories.save(userId, { text, about, ...caller });
        if (!kept)
          throw new ToolFailed(
            'The limit of memories is reached, or too many memories are unconfirmed. Forget some memories first, or ask the owner to confirm some.',
            false,
          );
        return kept;
      },
    }),
    defineTool({
      skillId: 'memory',
      name: 'search',
      description:
        "Search the owner's memories, best match first. Returns " +
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
      description: 'Delete a memory if the owner asks for it or it is outdated.',
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
