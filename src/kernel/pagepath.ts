export const pagePaths = {
  home: '/',
  login: '/login',
  approvals: '/approvals',
  approval: '/approvals/{id}',
  chats: '/chat',
  chat: '/chat/{id}',
  agents: '/agents',
  agent: '/agents/{id}',
  executions: '/executions',
  execution: '/executions/{id}',
  notifications: '/notifications',
  operations: '/operations',
  operation: '/operations/{id}',
  knowledge: '/knowledge',
  source: '/knowledge/{id}',
  tasks: '/tasks',
  task: '/tasks/{id}',
  pipelines: '/pipelines',
  run: '/pipelines/{id}',
  recurringTasks: '/recurring',
  recurringTask: '/recurring/{id}',
  mail: '/mail',
  message: '/mail/{id}',
  memories: '/memories',
  memory: '/memories/{id}',
  device: '/device',
  more: '/more',
} as const;
export type PagePlace = keyof typeof pagePaths;

/** `pageLink('agent', id)` is `/agents/<id>`. */
export const pageLink = (name: PagePlace, id = ''): string =>
  pagePaths[name].replace('{id}', encodeURIComponent(id));
