/** The modules of the server, each of which imports of those before it alone. */
export const modules = [
  ...['kernel', 'store', 'providers', 'realtime', 'jobs', 'secrets', 'vault', 'tools', 'outbound'],
  ...['accounts', 'models', 'permissions', 'approvals', 'experts', 'skills', 'conversations'],
  ...['agents', 'channels', 'hooks', 'system', 'http'],
];
