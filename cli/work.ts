import type { Entry } from './entries.js';

/** What people come for. */
export const work: Entry[] = [
  {
    name: 'hooks',
    alias: 'hook',
    summary: 'What happens when a signed webhook arrives',
    load: async () => (await import('./commands/hooks.js')).hooks,
  },
  {
    name: 'agents',
    alias: 'agent',
    summary: 'The runs that hooks and you began',
    load: async () => (await import('./commands/agents.js')).agents,
  },
  {
    name: 'chat',
    summary: 'Say something, or have a conversation',
    load: async () => (await import('./commands/chat.js')).chat,
  },
  {
    name: 'approvals',
    alias: 'approval',
    summary: 'Calls of agents that wait for your word',
    load: async () => (await import('./commands/approvals.js')).approvals,
  },
  {
    name: 'models',
    alias: 'model',
    summary: 'Who answers: language models, and how they are',
    load: async () => (await import('./commands/models.js')).models,
  },
  {
    name: 'models routing',
    summary: 'Which models answer for which topic',
    load: async () => (await import('./models/routing.js')).modelRouting,
  },
  {
    name: 'models cli',
    summary: 'Tools as models: claude, codex, gemini, opencode',
    load: async () => (await import('./models/tools.js')).modelTools,
  },
  {
    name: 'skills',
    alias: 'skill',
    summary: 'What agents can use: tools, skill folders, MCP servers',
    load: async () => (await import('./commands/skills.js')).skills,
  },
  {
    name: 'skills permissions',
    summary: 'What tools may do without asking you',
    load: async () => (await import('./commands/permissions.js')).permissions,
  },
  {
    name: 'mcp',
    summary: 'Servers that bring further tools',
    load: async () => (await import('./commands/mcp.js')).mcp,
  },
  {
    name: 'experts',
    alias: 'expert',
    summary: 'The parts that agents play',
    load: async () => (await import('./commands/experts.js')).experts,
  },
  {
    name: 'vault',
    summary: 'Credentials: used by hooks, models, tools; read by nobody',
    load: async () => (await import('./commands/vault.js')).vault,
  },
  {
    name: 'webhooks',
    summary: 'Whom Adjutant tells, signed, when something happened',
    load: async () => (await import('./commands/webhooks.js')).webhooks,
  },
  {
    name: 'sessions',
    summary: 'Conversations and their messages',
    load: async () => (await import('./commands/sessions.js')).sessions,
  },
  {
    name: 'notifications',
    alias: 'notif',
    summary: 'What Adjutant has told you',
    load: async () => (await import('./commands/notifications.js')).notifications,
  },
  {
    name: 'channels',
    summary: 'Where else you speak with Adjutant: chats and webhooks',
    load: async () => (await import('./commands/channels.js')).channels,
  },
  {
    name: 'platforms',
    alias: 'platform',
    summary: 'The chat platforms that all users may link (admin)',
    load: async () => (await import('./commands/platforms.js')).platforms,
  },
];
