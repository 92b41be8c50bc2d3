const SCOPES = ['chat:write', 'im:history', 'app_mentions:read', 'commands'];

/** The app as Slack makes it from a manifest (api.slack.com/reference/manifests). */
export const slackManifest = (receiver: string): object => {
  const slash = (command: string, description: string, usage_hint: string) => ({
    ...{ command, description, usage_hint, url: receiver, should_escape: false },
  });
  return {
    display_information: { name: 'Adjutant', description: 'Speaks with your agents' },
    features: {
      app_home: { messages_tab_enabled: true, messages_tab_read_only_enabled: false },
      bot_user: { display_name: 'Adjutant', always_online: true },
      slash_commands: [
        slash('/link', 'Link this chat to your account', '[code]'),
        slash('/adjutant', 'Say something to your agents', '[words]'),
      ],
    },
    oauth_config: { scopes: { bot: SCOPES } },
    settings: {
      event_subscriptions: { request_url: receiver, bot_events: ['message.im', 'app_mention'] },
      interactivity: { is_enabled: true, request_url: receiver },
      org_deploy_enabled: false,
      socket_mode_enabled: false,
      token_rotation_enabled: false,
    },
  };
};
