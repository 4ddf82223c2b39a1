export const HELP = `troupe: agents of a Troupe platform, from the terminal

  troupe login [--url URL] [--browser]      sign in with the browser: you agree there, and this computer gets an API key
  troupe login [--url URL] --key KEY        sign in with an API key that you have; it may be piped in, too
  troupe pair --agent-url URL --token TOKEN be a device of one agent; its owner approves it under Devices
  troupe logout                             forget the sign-in
  troupe whoami                             who is signed in, and where

  troupe agents                             the own agents
  troupe agents create NAME [--model MODEL] [--instructions TEXT]
  troupe agents show AGENT
  troupe agents delete AGENT --yes
  troupe chat AGENT [MESSAGE...]            talk; without a message it is read from the input, or line by line
                                            [--topic NAME] keeps conversations apart
  troupe logs AGENT

  troupe tasks [--agent AGENT]              scheduled tasks
  troupe tasks create AGENT --name NAME --cron SCHEDULE --prompt TEXT [--timezone ZONE]
  troupe tasks runs TASK
  troupe tasks delete TASK --yes

  troupe files AGENT [FOLDER]               the agent's files
  troupe files get AGENT PATH [-o FILE]
  troupe files put AGENT FILE [PATH]

  troupe eval AGENT [--max-cost USD]        try its cases; ends with 1 when one has not passed

  troupe usage [--days N] [--by day|model]
  troupe export AGENT [-o FILE]             all of an agent in one file, to be kept or restored elsewhere
  troupe export AGENT --yaml [-o FILE]      what it is, as a document of docker-agent, without secrets
  troupe import FILE [--path DOCUMENT]      what files of docker-agent, OpenClaw, Paperclip or Letta would become:
                                            a document, an archive or a folder
  troupe import FILE --yes [--plan PLAN]    import them

AGENT is an id, or a name that only one agent has. FILE may be - for input or output.
--json prints what the platform said, one document a command, one line an event.
--url and --key, or TROUPE_URL and TROUPE_KEY, go before the sign-in. TROUPE_CONFIG says where it is kept.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 not signed in, 4 not found, 5 not reachable, 130 interrupted.
`;
