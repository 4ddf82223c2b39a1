/* Made from the contract by `npm run docs:client`; a test compares. */

/** Every endpoint that a person or a program may call: what it takes, and what it answers. */
export interface Endpoints {
  /** Remove a provider; it is not used any more */
  'DELETE /api/admin/providers/:id': {
    params: { id: string };
    reply: {
      success: true;
    };
  };
  /** Remove a user's second factors and recovery codes; recorded, and the user is told by mail */
  'DELETE /api/admin/users/:id/factors': {
    params: { id: string };
    reply: {
      success: true;
    };
  };
  /** Delete an agent and all its data */
  'DELETE /api/agents/:id': {
    params: { id: string };
    reply: {
      success: true;
      deleted: string;
    };
  };
  /** Delete a copy of an agent */
  'DELETE /api/agents/:id/backups/:backupId': {
    params: { id: string; backupId: string };
    reply: {
      success: true;
      deleted: string;
    };
  };
  /** Remove a channel, and what opened it */
  'DELETE /api/agents/:id/channels/:kind': {
    params: { id: string; kind: string };
    reply: {
      success: true;
    };
  };
  /** Remove a case */
  'DELETE /api/agents/:id/evaluation-cases/:caseId': {
    params: { id: string; caseId: string };
    reply: {
      success: true;
    };
  };
  /** Delete a file, or a folder with all that is in it */
  'DELETE /api/agents/:id/files': {
    params: { id: string };
    query: {
      path: string;
      force?: 'true' | 'false';
    };
    reply: {
      success: true;
    };
  };
  /** Take a collection from an agent */
  'DELETE /api/agents/:id/knowledge/:collectionId': {
    params: { id: string; collectionId: string };
    query?: {
      force?: 'true' | 'false';
    };
    reply: {
      collections: ({
        id: string;
        name: string;
        description: string;
        on: boolean;
      })[];
    };
  };
  /** Remove a sealed login */
  'DELETE /api/agents/:id/logins/:name': {
    params: { id: string; name: string };
    reply: {
      success: true;
    };
  };
  /** Remove an MCP server, and what opened it */
  'DELETE /api/agents/:id/mcp-servers/:name': {
    params: { id: string; name: string };
    query?: {
      force?: 'true' | 'false';
    };
    reply: {
      success: true;
    };
  };
  /** Delete a conversation with all its branches */
  'DELETE /api/agents/:id/sessions/:sessionId': {
    params: { id: string; sessionId: string };
    reply: {
      success: true;
    };
  };
  /** Remove a link: it shows nothing any more */
  'DELETE /api/agents/:id/shares/:shareId': {
    params: { id: string; shareId: string };
    reply: {
      success: true;
    };
  };
  /** Take a skill from an agent */
  'DELETE /api/agents/:id/skills/:skillId': {
    params: { id: string; skillId: string };
    query?: {
      force?: 'true' | 'false';
    };
    reply: {
      skills: ({
        id: string;
        name: string;
        description: string;
        on: boolean;
        digest: string;
        version: number | null;
        pinned: string | null;
        behind: boolean;
      })[];
      max: number;
    };
  };
  /** Remove a verification */
  'DELETE /api/agents/:id/verify': {
    params: { id: string };
    reply: {
      verified: boolean;
      verificationType: string | null;
      attestationUid: string | null;
      verifierAddress: string | null;
      verifiedAt: string | null;
      metadata: unknown;
      success: true;
      agentId: string;
    };
  };
  /** Remove a widget with the conversations of its visitors */
  'DELETE /api/agents/:id/widgets/:widgetId': {
    params: { id: string; widgetId: string };
    reply: {
      success: true;
    };
  };
  /** End one session */
  'DELETE /api/auth/sessions/:id': {
    params: { id: string };
    reply: {
      success: true;
    };
  };
  /** Take a program’s access away; its tokens stop working at once */
  'DELETE /api/authorizations/:id': {
    params: { id: string };
    reply: {
      success: true;
    };
  };
  /** Stop waking the agent */
  'DELETE /api/heartbeat': {
    body: {
      agentId: string;
    };
    reply: {
      success: true;
    };
  };
  /** Undo: what was put off or done with waits again, and a task that was switched off is on again */
  'DELETE /api/inbox/marks/:item': {
    params: { item: string };
    reply: {
      success: true;
    };
  };
  /** Delete an API key; it stops working at once */
  'DELETE /api/keys/:id': {
    params: { id: string };
    reply: {
      success: true;
    };
  };
  /** Delete a collection that no agent has, with all its documents */
  'DELETE /api/knowledge/:id': {
    params: { id: string };
    reply: {
      success: true;
    };
  };
  /** Delete a document; it is found no more at once */
  'DELETE /api/knowledge/documents/:id': {
    params: { id: string };
    reply: {
      success: true;
    };
  };
  /** Remove an MCP server, what opened it, and what runs with it */
  'DELETE /api/mcp-servers/:name': {
    params: { name: string };
    reply: {
      success: true;
    };
  };
  /** Delete one entry of what the agent remembers */
  'DELETE /api/memory': {
    body: {
      agentId: string;
      key: string;
    };
    reply: {
      success: true;
    };
  };
  /** Tell a browser nothing any more */
  'DELETE /api/push/subscriptions/:id': {
    params: { id: string };
    reply: {
      success: true;
    };
  };
  /** Delete a task and its history */
  'DELETE /api/scheduled-tasks': {
    query?: {
      taskId?: string;
    };
    body?: {
      taskId?: string;
    };
    reply: {
      success: true;
      taskId: string;
    };
  };
  /** Remove a trigger; its address and secret end at once */
  'DELETE /api/scheduled-tasks/:id/triggers/:triggerId': {
    params: { id: string; triggerId: string };
    reply: {
      success: true;
    };
  };
  /** Remove a factor; with the last one the second step and the recovery codes go */
  'DELETE /api/settings/factors/:id': {
    params: { id: string };
    reply: {
      success: true;
    };
  };
  /** Delete a skill that no agent has, with all its versions */
  'DELETE /api/skills/:id': {
    params: { id: string };
    reply: {
      success: true;
    };
  };
  /** Do not take it */
  'DELETE /api/skills/reviews/:id': {
    params: { id: string };
    reply: {
      success: true;
    };
  };
  /** Settle what vouchers have spent, and return the rest */
  'DELETE /api/wallet/sessions': {
    query: {
      sessionId: string;
    };
    reply: {
      success: true;
      returned: string;
      settled: string;
    };
  };
  /** Tell an address nothing any more; its log goes, too */
  'DELETE /api/webhooks/:id': {
    params: { id: string };
    reply: {
      success: true;
    };
  };
  /** Older MCP clients end their session here: there are none */
  'DELETE /mcp': {
    reply: string;
  };
  /** How programs get access tokens here (RFC 8414) */
  'GET /.well-known/oauth-authorization-server': {
    reply: {
      issuer: string;
      authorization_endpoint: string;
      token_endpoint: string;
      registration_endpoint: string;
      revocation_endpoint: string;
      [key: string]: unknown;
    };
  };
  /** Who gives access tokens for /mcp, and for what */
  'GET /.well-known/oauth-protected-resource/mcp': {
    reply: {
      resource: string;
      authorization_servers: string[];
      scopes_supported: string[];
      bearer_methods_supported: string[];
      resource_name: string;
    };
  };
  /** What agents can do on this installation */
  'GET /api/abilities': {
    reply: {
      shell: {
        reason: string | null;
      };
      browser: {
        reason: string | null;
      };
    };
  };
  /** Whether one may make agents here, and how to come to it */
  'GET /api/access': {
    reply: {
      state: 'member' | 'none' | 'asked' | 'refused';
      plan: 'solo' | 'collective' | 'label' | 'network' | null;
      endsAt: string | null;
      sold: boolean;
      askedAt: string | null;
      note: string;
      answer: string;
    };
  };
  /** What closing the account would end, and whether it is closed already */
  'GET /api/account': {
    reply: {
      eraseAt: string | null;
      graceDays: number;
      agents: number;
      tasks: number;
      keys: number;
      credits: number;
      wallets: ({
        address: string;
        balance: string;
      })[];
      refusal: 'subscription' | 'payment' | 'administrator' | null;
    };
  };
  /** Everything that is yours, as a tar archive: NDJSON files, and the files of agents that run */
  'GET /api/account/export': {
    reply: string;
  };
  /** Who waits for access, the first first */
  'GET /api/admin/access': {
    query?: {
      limit?: string;
      offset?: string;
    };
    reply: {
      requests: ({
        id: string;
        name: string;
        email: string;
        emailVerified: boolean;
        note: string;
        askedAt: string;
      })[];
      total: number;
    };
  };
  /** What everybody spent on models in a period: by day, and by user, agent, team, task, key or model */
  'GET /api/admin/costs': {
    query?: {
      by?: 'user' | 'agent' | 'team' | 'task' | 'key' | 'model';
      from?: string;
      to?: string;
      id?: string;
      limit?: string;
      offset?: string;
    };
    reply: {
      by: string;
      from: string;
      to: string;
      total: {
        costUsd: number;
        inputTokens: number;
        outputTokens: number;
        calls: number;
      };
      rows: ({
        id: string;
        name: string | null;
        owner: string | null;
        costUsd: number;
        inputTokens: number;
        outputTokens: number;
        calls: number;
      })[];
      count: number;
      days: ({
        date: string;
        costUsd: number;
        chosenUsd: number | null;
      })[];
    };
  };
  /** The same as CSV */
  'GET /api/admin/costs/export': {
    query?: {
      by?: 'user' | 'agent' | 'team' | 'task' | 'key' | 'model';
      from?: string;
      to?: string;
    };
    reply: string;
  };
  /** What this month will have cost everybody by its end */
  'GET /api/admin/costs/forecast': {
    reply: {
      soFarUsd: number;
      endUsd: number | null;
      lowUsd: number | null;
      highUsd: number | null;
      perDayUsd: number | null;
      basisDays: number;
      daysLeft: number;
    };
  };
  /** All invites, the newest 500 */
  'GET /api/admin/invites': {
    reply: {
      invites: ({
        code: string;
        email: string | null;
        name: string | null;
        createdAt: string;
        expiresAt: string;
        usedAt?: string;
        status: 'active' | 'used' | 'expired';
        userId?: string;
      })[];
      total: number;
      active: number;
    };
  };
  /** Who may make an account, and what it begins with */
  'GET /api/admin/joining': {
    reply: {
      mode: 'open' | 'invite' | 'closed';
      plan: 'solo' | 'collective' | 'label' | 'network' | null;
      days: number | null;
    };
  };
  /** Providers of AI models: those of the environment first, in the order in which they are asked */
  'GET /api/admin/providers': {
    reply: {
      providers: ({
        id: string | null;
        kind: string;
        name: string;
        baseUrl: string | null;
        hasKey: boolean;
        models: string[] | null;
        enabled: boolean;
        createdAt: string | null;
      })[];
    };
  };
  /** All users, the newest first */
  'GET /api/admin/users': {
    query?: {
      limit?: string;
      offset?: string;
      search?: string;
    };
    reply: {
      users: ({
        id: string;
        email: string;
        emailVerified: boolean;
        name: string;
        isAdmin: boolean;
        plan: 'solo' | 'collective' | 'label' | 'network' | null;
        subscriptionStatus: 'active' | 'inactive' | 'past_due' | 'cancelled';
        credits: number;
        secondFactor: boolean;
        eraseAt: string | null;
        createdAt: string;
      })[];
      total: number;
      limit: number;
      offset: number;
    };
  };
  /** The own agents; none without a session */
  'GET /api/agents': {
    query?: {
      limit?: string;
      offset?: string;
    };
    reply: {
      agents: ({
        id: string;
        name: string;
        model: string;
        answers: string;
        status: 'pending' | 'provisioning' | 'running' | 'active' | 'stopped' | 'error' | 'failed';
        websocketUrl: string;
        createdAt: string;
        updatedAt: string;
        plan: string;
        teamId: string | null;
        url: string;
        failure: string | null;
        ownKeyOf: string | null;
        verified: boolean;
        tags: string[];
        outside: boolean;
      })[];
      count: number;
      hasMore: boolean;
      status: 'ok';
    };
  };
  /** One agent */
  'GET /api/agents/:id': {
    params: { id: string };
    reply: {
      agent: {
        id: string;
        name: string;
        model: string;
        answers: string;
        status: 'pending' | 'provisioning' | 'running' | 'active' | 'stopped' | 'error' | 'failed';
        websocketUrl: string;
        createdAt: string;
        updatedAt: string;
        plan: string;
        teamId: string | null;
        url: string;
        failure: string | null;
        ownKeyOf: string | null;
        verified: boolean;
        tags: string[];
        outside: boolean;
      };
      status: 'ok';
    };
  };
  /** Rules that can be made of a call that waits, the narrowest first, and how many of the newest 20 calls of its tool that were asked about each would have allowed */
  'GET /api/agents/:id/approvals/:approvalId/rules': {
    params: { id: string; approvalId: string };
    reply: {
      asked: number;
      rules: ({
        within: string | null;
        folder?: string;
        allows: number;
      })[];
    };
  };
  /** Work that an agent has in the background with members of its team, the newest first */
  'GET /api/agents/:id/background': {
    params: { id: string };
    query?: {
      limit?: string;
      offset?: string;
      session?: string;
    };
    reply: {
      tasks: ({
        id: string;
        sessionId: string;
        runSeq: number;
        member: string;
        memberId: string;
        memberSession: string | null;
        task: string;
        status: 'running' | 'done' | 'failed' | 'stopped';
        result: string;
        spent: {
          turns: number;
          tokens: number;
          costMicros: number;
          ms: number;
        } | null;
        createdAt: string;
        endedAt: string | null;
        [key: string]: unknown;
      })[];
      hasMore: boolean;
    };
  };
  /** A task in the background, with its whole result */
  'GET /api/agents/:id/background/:taskId': {
    params: { id: string; taskId: string };
    reply: {
      task: {
        id: string;
        sessionId: string;
        runSeq: number;
        member: string;
        memberId: string;
        memberSession: string | null;
        task: string;
        status: 'running' | 'done' | 'failed' | 'stopped';
        result: string;
        spent: {
          turns: number;
          tokens: number;
          costMicros: number;
          ms: number;
        } | null;
        createdAt: string;
        endedAt: string | null;
        [key: string]: unknown;
      };
    };
  };
  /** The copies of an agent, the newest first */
  'GET /api/agents/:id/backups': {
    params: { id: string };
    reply: {
      backups: ({
        id: string;
        createdAt: string;
        size: number;
        reason: 'manual' | 'update' | 'restore';
        image: string;
        version: string;
      })[];
      count: number;
      limit: number;
    };
  };
  /** The file of a copy */
  'GET /api/agents/:id/backups/:backupId': {
    params: { id: string; backupId: string };
    reply: string;
  };
  /** Channels of an agent, how they are, and what came in lately */
  'GET /api/agents/:id/channels': {
    params: { id: string };
    reply: {
      channels: ({
        kind: 'telegram' | 'slack' | 'email' | 'discord' | 'whatsapp';
        isSet: boolean;
        settings: Record<string, string>;
        secrets: string[];
        allowed: string[];
        webhook: string | null;
        state: 'off' | 'starting' | 'listening' | 'failed' | 'refused' | 'elsewhere';
        error: string | null;
        at: string | null;
      })[];
      receipts: ({
        channel: string;
        id: string;
        sender: string;
        chat: string;
        state: 'waiting' | 'answered' | 'failed' | 'ignored';
        note: string | null;
        tries: number;
        receivedAt: string;
        doneAt: string | null;
      })[];
    };
  };
  /** What the agent runs with */
  'GET /api/agents/:id/config': {
    params: { id: string };
    reply: {
      config: Record<string, unknown>;
      status: 'ok';
    };
  };
  /** An agent as a document of docker-agent, to be taken elsewhere: without secrets, and what is not in it named at its top */
  'GET /api/agents/:id/document': {
    params: { id: string };
    reply: string;
  };
  /** What the agent is tried with */
  'GET /api/agents/:id/evaluation-cases': {
    params: { id: string };
    reply: {
      cases: ({
        name: string;
        input: string;
        checks: ({
          kind: 'contains';
          text: string;
        } | {
          kind: 'lacks';
          text: string;
        } | {
          kind: 'regex';
          pattern: string;
        } | {
          kind: 'schema';
          schema: Record<string, unknown>;
        } | {
          kind: 'called';
          tool: string;
          with?: string;
        } | {
          kind: 'not_called';
          tool: string;
        } | {
          kind: 'cost';
          mostUsd: number;
        } | {
          kind: 'time';
          mostSeconds: number;
        } | {
          kind: 'judge';
          criteria: string;
        })[];
        stubs: ({
          tool: string;
          result: string;
        })[];
        maxSeconds: number;
        id: string;
        revision: number;
        updatedAt: string;
      })[];
      max: number;
    };
  };
  /** The evaluations of an agent, newest first, and whether its changes wait for them */
  'GET /api/agents/:id/evaluations': {
    params: { id: string };
    query?: {
      limit?: string;
    };
    reply: {
      evaluations: ({
        id: string;
        status: 'running' | 'passed' | 'failed' | 'stopped';
        isProposal: boolean;
        takes: boolean;
        takenAt: string | null;
        notTaken: string | null;
        cases: number;
        passed: number;
        over: number;
        costUsd: number;
        createdAt: string;
        finishedAt: string | null;
      })[];
      isGated: boolean;
    };
  };
  /** One evaluation, case by case, beside the one before it */
  'GET /api/agents/:id/evaluations/:evaluationId': {
    params: { id: string; evaluationId: string };
    reply: {
      id: string;
      status: 'running' | 'passed' | 'failed' | 'stopped';
      isProposal: boolean;
      takes: boolean;
      takenAt: string | null;
      notTaken: string | null;
      cases: number;
      passed: number;
      over: number;
      costUsd: number;
      createdAt: string;
      finishedAt: string | null;
      change: {
        config?: Record<string, unknown>;
        purpose?: {
          instruction?: string;
          tools?: string[];
        };
        skill?: {
          id: string;
          on: boolean;
          digest?: string;
        };
        collection?: {
          id: string;
          on: boolean;
        };
      } | null;
      results: ({
        caseId: string;
        name: string;
        input: string;
        status: 'waiting' | 'running' | 'passed' | 'failed' | 'broken' | 'interrupted' | 'skipped';
        was: 'waiting' | 'running' | 'passed' | 'failed' | 'broken' | 'interrupted' | 'skipped' | null;
        checks: ({
          check: {
            kind: 'contains';
            text: string;
          } | {
            kind: 'lacks';
            text: string;
          } | {
            kind: 'regex';
            pattern: string;
          } | {
            kind: 'schema';
            schema: Record<string, unknown>;
          } | {
            kind: 'called';
            tool: string;
            with?: string;
          } | {
            kind: 'not_called';
            tool: string;
          } | {
            kind: 'cost';
            mostUsd: number;
          } | {
            kind: 'time';
            mostSeconds: number;
          } | {
            kind: 'judge';
            criteria: string;
          };
          passed: boolean | null;
          says: string;
        })[];
        answer: string | null;
        calls: ({
          tool: string;
          args: string;
          isError: boolean;
          isRun: boolean;
        })[];
        error: string | null;
        tokens: number;
        costUsd: number;
        seconds: number;
      })[];
      before: {
        id: string;
        createdAt: string;
        passed: number;
        cases: number;
        costUsd: number;
      } | null;
    };
  };
  /** What is in a folder of an agent’s workspace, by name; at most 2,000 entries */
  'GET /api/agents/:id/files': {
    params: { id: string };
    query?: {
      path?: string;
    };
    reply: {
      path: string;
      entries: ({
        name: string;
        kind: 'file' | 'folder' | 'link' | 'other';
        bytes: number;
        modifiedAt: string;
      })[];
      more: boolean;
    };
  };
  /** A file as it is, to be saved. Pictures and text can be shown with `show=true`; nothing of it ever runs */
  'GET /api/agents/:id/files/content': {
    params: { id: string };
    query: {
      path: string;
      show?: 'true';
    };
    reply: string;
  };
  /** The words of a PDF page by page, and what is in an archive, without unpacking it */
  'GET /api/agents/:id/files/preview': {
    params: { id: string };
    query: {
      path: string;
    };
    reply: {
      kind: 'pdf' | 'archive' | 'picture' | 'text' | 'other';
      bytes: number;
      pages?: string[];
      entries?: ({
        path: string;
        kind: 'file' | 'folder' | 'link' | 'other';
        bytes: number;
      })[];
      total?: number;
      more: boolean;
      note?: string;
    };
  };
  /** A folder of the workspace as a zip; at most 10,000 files and 500 MB */
  'GET /api/agents/:id/files/zip': {
    params: { id: string };
    query?: {
      path?: string;
    };
    reply: string;
  };
  /** Which collections an agent may search */
  'GET /api/agents/:id/knowledge': {
    params: { id: string };
    reply: {
      collections: ({
        id: string;
        name: string;
        description: string;
        on: boolean;
      })[];
    };
  };
  /** Sealed logins of an agent: names and sites, never values */
  'GET /api/agents/:id/logins': {
    params: { id: string };
    reply: {
      logins: ({
        name: string;
        origin: string;
        updatedAt: string;
      })[];
      count: number;
    };
  };
  /** The agent’s log, newest first */
  'GET /api/agents/:id/logs': {
    params: { id: string };
    query?: {
      limit?: string;
      level?: 'debug' | 'info' | 'warn' | 'error';
    };
    reply: {
      logs: ({
        id: string;
        timestamp: string;
        level: 'debug' | 'info' | 'warn' | 'error';
        message: string;
        source: string;
        agentId: string;
      })[];
      total: number;
      limit: number;
      status: 'ok';
    };
  };
  /** The agent’s log as it is written; Last-Event-ID goes on where a reader stopped */
  'GET /api/agents/:id/logs/stream': {
    params: { id: string };
    query?: {
      level?: 'debug' | 'info' | 'warn' | 'error';
    };
    reply: string;
  };
  /** MCP servers of an agent, and how they are */
  'GET /api/agents/:id/mcp-servers': {
    params: { id: string };
    reply: {
      servers: ({
        name: string;
        url?: string;
        command?: string;
        args: string[];
        headers: string[];
        clientId?: string;
        env: string[];
        tools?: string[];
        pin?: {
          name: string;
          version: string;
          integrity: string;
          packages: number;
          at: string;
        };
        state: 'unused' | 'connected' | 'failed' | 'consent';
        error?: string;
        offered?: string[];
        at?: string;
        inherited?: boolean;
        off?: boolean;
      })[];
      count: number;
    };
  };
  /** How an agent’s memory is searched and filled, and the facts that were found */
  'GET /api/agents/:id/memory': {
    params: { id: string };
    reply: {
      embeddings: string | null;
      memories: number;
      embedded: number;
      meaningNote: string | null;
      facts: boolean;
      factsNote: string | null;
      found: ({
        id: string;
        content: string;
        at: string;
        conversationId: string;
        message: number;
        conversation: string | null;
        contradicts: ({
          id: string;
          content: string;
          at: string;
        })[];
      })[];
    };
  };
  /** The agent’s conversations, newest first */
  'GET /api/agents/:id/messages': {
    params: { id: string };
    query?: {
      limit?: string;
      offset?: string;
    };
    reply: {
      messages: ({
        id: string;
        agentId: string;
        sender: 'user' | 'agent';
        content: string;
        timestamp: string;
        platform: string;
      })[];
      total: number;
      limit: number;
      offset: number;
      hasMore?: boolean;
      status: 'ok';
    };
  };
  /** What an agent may spend on its own, and what it has spent of that */
  'GET /api/agents/:id/payment-policy': {
    params: { id: string };
    reply: {
      perPayment: string | null;
      perDay: string | null;
      perPayee: string | null;
      approvalAbove: string | null;
      payees: string[] | null;
      spent: string;
    };
  };
  /** The newest hundred payments in an agent’s name, those that wait for the owner included */
  'GET /api/agents/:id/payments': {
    params: { id: string };
    reply: {
      payments: ({
        id: string;
        amount: string;
        currency: string;
        recipient: string;
        endpoint: string | null;
        method: string;
        status: 'approval' | 'denied' | 'pending' | 'paid' | 'failed' | 'unknown';
        createdAt: string;
      })[];
    };
  };
  /** What the agent is for, and the tools that it may use */
  'GET /api/agents/:id/purpose': {
    params: { id: string };
    reply: {
      instruction: string;
      tools: string[];
      welcome: string | null;
      commands: ({
        name: string;
        description: string;
      })[];
    };
  };
  /** Messages that have these words, the newest first: up to 50, among the newest 50,000 */
  'GET /api/agents/:id/search': {
    params: { id: string };
    query: {
      q: string;
    };
    reply: {
      messages: ({
        sessionId: string;
        seq: number;
        at: string;
        role: 'user' | 'assistant';
        title: string;
        text: string;
      })[];
    };
  };
  /** Sessions of an agent, the newest first */
  'GET /api/agents/:id/sessions': {
    params: { id: string };
    query?: {
      limit?: string;
      offset?: string;
      key?: string;
      latest?: 'true';
      archived?: 'true' | 'false';
    };
    reply: {
      sessions: ({
        id: string;
        channel: string;
        key: string;
        status: 'idle' | 'open' | 'waiting';
        lastSeq: number;
        createdAt: string;
        updatedAt: string;
        title?: string;
        pinned?: boolean;
        archived?: boolean;
        branchOf?: string | null;
        branchAt?: number | null;
        [key: string]: unknown;
      })[];
      count: number;
    };
  };
  /** The steps of a session, in order */
  'GET /api/agents/:id/sessions/:sessionId': {
    params: { id: string; sessionId: string };
    query?: {
      after?: string;
      limit?: string;
    };
    reply: {
      session: {
        id: string;
        channel: string;
        key: string;
        status: 'idle' | 'open' | 'waiting';
        lastSeq: number;
        createdAt: string;
        updatedAt: string;
        title?: string;
        pinned?: boolean;
        archived?: boolean;
        branchOf?: string | null;
        branchAt?: number | null;
        [key: string]: unknown;
      };
      events: ({
        seq: number;
        at: string;
        type: string;
        content?: string;
        role?: string;
        toolCalls?: ({
          callId: string;
          tool: string;
          args: string;
        })[];
        model?: string;
        provider?: string;
        tokens?: {
          in: number;
          out: number;
          cached?: number;
          thought?: number;
        };
        spent?: {
          turns: number;
          tokens: number;
          costMicros: number;
          ms: number;
        };
        callId?: string;
        tool?: string;
        args?: string;
        isError?: boolean;
        approvalId?: string;
        approved?: boolean;
        question?: {
          message: string;
          title?: string;
          options?: string[];
        };
        answer?: string;
        outcome?: string;
        reason?: string;
        leaves?: number;
        summary?: string;
        attachments?: ({
          path: string;
          kind: 'picture' | 'pdf' | 'text' | 'other';
          mime: string;
          bytes: number;
          note?: string;
          [key: string]: unknown;
        })[];
        background?: {
          id: string;
          member: string;
          status: 'done' | 'failed' | 'stopped';
          [key: string]: unknown;
        };
        to?: {
          agentId: string;
          name: string;
          [key: string]: unknown;
        };
        stopped?: boolean;
        [key: string]: unknown;
      })[];
      hasMore?: boolean;
    };
  };
  /** The branches of a conversation, the oldest first */
  'GET /api/agents/:id/sessions/:sessionId/branches': {
    params: { id: string; sessionId: string };
    reply: {
      branches: ({
        id: string;
        branchOf: string | null;
        branchAt: number | null;
        updatedAt: string;
      })[];
    };
  };
  /** A conversation to keep: what was said as Markdown, or every step as JSON */
  'GET /api/agents/:id/sessions/:sessionId/export': {
    params: { id: string; sessionId: string };
    query?: {
      format?: 'markdown' | 'json';
    };
    reply: string;
  };
  /** The files that a conversation is about, the newest first: written, read, removed or attached. Of its last 2,000 steps, and 200 files at most; what commands wrote is not known */
  'GET /api/agents/:id/sessions/:sessionId/files': {
    params: { id: string; sessionId: string };
    reply: {
      files: ({
        path: string;
        how: 'written' | 'read' | 'removed' | 'attached';
        seq: number;
        at: string;
      })[];
    };
  };
  /** The links that show conversations of an agent */
  'GET /api/agents/:id/shares': {
    params: { id: string };
    reply: {
      shares: ({
        id: string;
        sessionId: string;
        title: string;
        createdAt: string;
      })[];
    };
  };
  /** Which skills of the library an agent has */
  'GET /api/agents/:id/skills': {
    params: { id: string };
    reply: {
      skills: ({
        id: string;
        name: string;
        description: string;
        on: boolean;
        digest: string;
        version: number | null;
        pinned: string | null;
        behind: boolean;
      })[];
      max: number;
    };
  };
  /** Live figures; all null, with status `mock`, while the backend cannot be reached */
  'GET /api/agents/:id/stats': {
    params: { id: string };
    reply: {
      stats: {
        agentId: string;
        cpu: number | null;
        memory: number | null;
        memoryPercent: number | null;
        network: {
          rx: number;
          tx: number;
        } | null;
        uptime: number | null;
        uptimeFormatted: string | null;
        status: string | null;
        pids: number | null;
        messagesProcessed: number | null;
        messagesPerHour: number | null;
        averageResponseTime: number | null;
        successRate: number | null;
        errorRate: number | null;
      };
      status: 'ok' | 'mock';
    };
  };
  /** The token that opens the agent’s gateway */
  'GET /api/agents/:id/token': {
    params: { id: string };
    reply: {
      token: string;
    };
  };
  /** The same under its other name */
  'GET /api/agents/:id/verification': {
    params: { id: string };
    reply: {
      verified: boolean;
      verificationType: string | null;
      attestationUid: string | null;
      verifierAddress: string | null;
      verifiedAt: string | null;
      metadata: unknown;
    };
  };
  /** Whether and how the agent is verified */
  'GET /api/agents/:id/verify': {
    params: { id: string };
    reply: {
      verified: boolean;
      verificationType: string | null;
      attestationUid: string | null;
      verifierAddress: string | null;
      verifiedAt: string | null;
      metadata: unknown;
    };
  };
  /** The visitors of an agent’s widgets: those who wait for a person first, then the newest; 100 at most */
  'GET /api/agents/:id/visitors': {
    params: { id: string };
    reply: {
      visitors: ({
        id: string;
        agentId: string;
        widgetId: string;
        widgetTitle: string;
        sessionId: string | null;
        state: 'agent' | 'waiting' | 'person';
        waitingSince: string | null;
        words: string;
        origin: string;
        seenAt: string;
      })[];
    };
  };
  /** The widgets of an agent */
  'GET /api/agents/:id/widgets': {
    params: { id: string };
    reply: {
      widgets: ({
        id: string;
        agentId: string;
        publicKey: string;
        title: string;
        greeting: string;
        colour: string;
        scheme: 'light' | 'dark' | 'auto';
        enabled: boolean;
        hosted: boolean;
        origins: unknown[];
        abilities: 'answers' | 'all';
        handsOver: boolean;
        messagesPerHour: number;
        dailyCapUsd: number;
        retentionDays: number;
        address: string;
        embed: string;
        spentTodayUsd: number;
        createdAt: string;
      })[];
    };
  };
  /** State of the clone service */
  'GET /api/agents/clone': {
    reply: {
      status: 'ok';
      service: string;
      available: boolean;
      protocol: {
        name: string;
        version: string;
        methods: string[];
        payment: boolean;
      };
      timestamp: string;
    };
  };
  /** The own agents */
  'GET /api/agents/provision': {
    query?: {
      limit?: string;
      offset?: string;
    };
    reply: {
      success: true;
      agents: ({
        id: string;
        name: string;
        model: string;
        answers: string;
        status: 'pending' | 'provisioning' | 'running' | 'active' | 'stopped' | 'error' | 'failed';
        websocketUrl: string;
        createdAt: string;
        updatedAt: string;
        plan: string;
        teamId: string | null;
        url: string;
        failure: string | null;
        ownKeyOf: string | null;
        verified: boolean;
        tags: string[];
        outside: boolean;
      })[];
      count: number;
      hasMore: boolean;
    };
  };
  /** The user's own audit log, the newest first: sign-ins (failed ones, too), keys, passwords, plans, security events. Administrators see everybody's */
  'GET /api/audit': {
    query?: {
      limit?: string;
      before?: string;
      userId?: string;
    };
    reply: {
      entries: ({
        id: string;
        userId: string | null;
        email: string | null;
        actorId: string | null;
        actorEmail: string | null;
        action: string;
        detail: Record<string, unknown>;
        ip: string | null;
        createdAt: string;
      })[];
      next: string | null;
    };
  };
  /** A proof-of-work challenge: find `number` so that SHA-256 of salt and number is `challenge` */
  'GET /api/auth/challenge': {
    reply: {
      algorithm: 'SHA-256';
      challenge: string;
      maxnumber: number;
      salt: string;
      signature: string;
    };
  };
  /** A token that lets a page of another origin act for this session */
  'GET /api/auth/csrf': {
    reply: {
      token: string;
      header: 'x-csrf-token';
    };
  };
  /** What the endpoint takes */
  'GET /api/auth/federated/refresh': {
    reply: {
      endpoint: string;
      methods: string[];
      description: string;
      required: string[];
      optional: string[];
    };
  };
  /** What the endpoint takes */
  'GET /api/auth/federated/verify': {
    reply: {
      endpoint: string;
      methods: string[];
      description: string;
      required: string[];
      optional: string[];
    };
  };
  /** Sign in at the code-hosting provider: redirects there */
  'GET /api/auth/idp1': {
    reply: string;
  };
  /** Called by the code-hosting provider. Redirects to /dashboard, to /login/second-step where that is owed, or to /login?error= and one of AccessDenied, IdpAuthFailed, IdpNotConfigured, IdpTokenFailed, IdpNoEmail, IdpAuthError */
  'GET /api/auth/idp1/callback': {
    query?: {
      code?: string;
      state?: string;
      error?: string;
    };
    reply: string;
  };
  /** Sign in at the general provider: redirects to its account selector */
  'GET /api/auth/idp2': {
    reply: string;
  };
  /** Called by the general provider. Redirects to /dashboard, to /login/second-step where that is owed, or to /login?error= and one of AccessDenied, IdpAuthFailed, IdpNotConfigured, IdpTokenFailed, IdpNoEmail, IdpAuthError */
  'GET /api/auth/idp2/callback': {
    query?: {
      code?: string;
      state?: string;
      error?: string;
    };
    reply: string;
  };
  /** A nonce for a wallet sign-in: works once, within ten minutes */
  'GET /api/auth/nonce': {
    reply: {
      nonce: string;
    };
  };
  /** Which identity providers are set up here */
  'GET /api/auth/providers': {
    reply: {
      idp1: boolean;
      idp2: boolean;
    };
  };
  /** What the sign-in of the cookie svc-sign-in still owes */
  'GET /api/auth/second-step': {
    reply: {
      methods: ('passkey' | 'totp' | 'recovery')[];
      expiresAt: string;
    };
  };
  /** Who is signed in; null when nobody is */
  'GET /api/auth/session': {
    reply: {
      user: {
        id: string;
        name: string;
        email: string;
        isAdmin: boolean;
      } | null;
    };
  };
  /** Where the user is signed in */
  'GET /api/auth/sessions': {
    reply: {
      sessions: ({
        id: string;
        device: string;
        ip: string;
        createdAt: string;
        lastSeen: string;
        expiresAt: string;
        current: boolean;
      })[];
    };
  };
  /** Whether a wallet holds enough of the gating token */
  'GET /api/auth/token-gating/verify': {
    query: {
      address: string;
    };
    reply: {
      address: string;
      hasAccess: boolean;
      tokenGated: boolean;
      minBalance: string;
      token: string | null;
      chain: string;
      contractAddress: string | null;
    };
  };
  /** Programs that have access, the newest first */
  'GET /api/authorizations': {
    reply: {
      authorizations: ({
        id: string;
        client: string;
        name: string;
        audience: string;
        agent: string | null;
        scopes: string[];
        createdAt: string;
        lastUsed: string | null;
      })[];
    };
  };
  /** Who asks for what, before it is given */
  'GET /api/authorizations/request': {
    query?: {
      client_id?: string;
      redirect_uri?: string;
      response_type?: string;
      code_challenge?: string;
      code_challenge_method?: string;
      scope?: string;
      state?: string;
      resource?: string;
    };
    reply: {
      client: {
        name: string;
        host: string | null;
        redirectHost: string;
      };
      audience: {
        kind: 'platform' | 'agent';
        name: string;
      };
      scopes: ({
        scope: string;
        text: string;
      })[];
    };
  };
  /** The own plan and subscription, and what each plan costs */
  'GET /api/billing': {
    reply: {
      plan: 'solo' | 'collective' | 'label' | 'network' | null;
      status: 'active' | 'inactive' | 'past_due' | 'cancelled';
      renewsAt: string | null;
      prices: ({
        plan: 'solo' | 'collective' | 'label' | 'network';
        amount: number;
        currency: 'GBP';
        interval: 'month';
      })[];
    };
  };
  /** Everything that bounds what agents spend, what is used of it, and what happens when it is reached */
  'GET /api/budgets': {
    reply: {
      budgets: ({
        kind: 'cap' | 'tokens' | 'payments' | 'strangers';
        scope: 'user' | 'agent' | 'run' | 'team';
        agentId: string | null;
        agentName: string | null;
        teamId?: string | null;
        teamName?: string | null;
        period: 'day' | 'month' | 'total';
        unit: 'usd' | 'tokens' | 'messages';
        limit: number | null;
        used: number | null;
        reserved: number | null;
        resetsAt: string | null;
        steps: ({
          at: number;
          does: 'tell' | 'ask' | 'credits' | 'refuse' | 'nothing';
        })[];
        above: number | null;
      })[];
      more: boolean;
    };
  };
  /** What was said, newest first */
  'GET /api/chat': {
    query?: {
      agentId?: string;
      limit?: string;
    };
    reply: {
      messages: ({
        id: string;
        agentId: string;
        sender: 'user' | 'agent';
        content: string;
        timestamp: string;
        platform: string;
      })[];
      count: number;
    };
  };
  /** The configuration that agents run with, and its backups */
  'GET /api/config': {
    reply: {
      config: Record<string, unknown>;
      backups: ({
        id: string;
        timestamp: string;
      })[];
    };
  };
  /** One backup in full, to compare with */
  'GET /api/config/backups/:id': {
    params: { id: string };
    reply: {
      id: string;
      timestamp: string;
      config: Record<string, unknown>;
    };
  };
  /** What was spent on models in a period: by day, and by agent, team, task, key or model */
  'GET /api/costs': {
    query?: {
      by?: 'agent' | 'team' | 'task' | 'key' | 'model';
      from?: string;
      to?: string;
      id?: string;
      limit?: string;
      offset?: string;
    };
    reply: {
      by: string;
      from: string;
      to: string;
      total: {
        costUsd: number;
        inputTokens: number;
        outputTokens: number;
        calls: number;
      };
      rows: ({
        id: string;
        name: string | null;
        owner: string | null;
        costUsd: number;
        inputTokens: number;
        outputTokens: number;
        calls: number;
      })[];
      count: number;
      days: ({
        date: string;
        costUsd: number;
        chosenUsd: number | null;
      })[];
    };
  };
  /** The same as CSV, a line for each day and agent, team, task, key or model */
  'GET /api/costs/export': {
    query?: {
      by?: 'agent' | 'team' | 'task' | 'key' | 'model';
      from?: string;
      to?: string;
    };
    reply: string;
  };
  /** What this month will have cost by its end: so far, and a mean day of the last four weeks for each day that is left */
  'GET /api/costs/forecast': {
    reply: {
      soFarUsd: number;
      endUsd: number | null;
      lowUsd: number | null;
      highUsd: number | null;
      perDayUsd: number | null;
      basisDays: number;
      daysLeft: number;
    };
  };
  /** Credits and the own referral code */
  'GET /api/credits': {
    reply: {
      credits: number;
      referralCode: string;
      referralCount: number;
      plan: 'solo' | 'collective' | 'label' | 'network' | null;
    };
  };
  /** The day in short: the platform’s state, and with a session the user’s own */
  'GET /api/daily-brief': {
    reply: {
      date: string;
      generatedAt: string;
      brief: ({
        id: 'system' | 'tasks' | 'focus' | 'intel' | 'security' | 'calendar';
        title: string;
        color: string;
        items: string[];
      })[];
    };
  };
  /** What the agents cost, in USD */
  'GET /api/dashboard/cost': {
    query: {
      period: '7d' | '30d' | 'mtd';
    };
    reply: {
      period: '7d' | '30d' | 'mtd';
      summary: {
        totalCost: number;
        totalTokens: number;
        totalCalls: number;
        avgCostPerCall: number;
      };
      agents: ({
        agentId: string;
        name: string;
        tokens: number;
        cost: number;
        calls: number;
        avgCostPerCall: number;
        model: string;
      })[];
      daily: ({
        date: string;
        day: string;
        cost: number;
        tokens: number;
      })[];
      modelBreakdown: ({
        model: string;
        percent: number;
        cost: number;
      })[];
      isMockData: false;
      plan: string | null;
      planMonthlyCost: number;
      agentCount: number;
      activeAgents: number;
    };
  };
  /** The models of the public demo */
  'GET /api/demo/chat': {
    reply: {
      models: ({
        id: string;
        name: string;
        provider: string;
      })[];
      mode: 'demo';
      message: string;
    };
  };
  /** Devices that wait or are approved */
  'GET /api/devices': {
    reply: {
      pending: ({
        id: string;
        name: string;
        agentId: string | null;
        ip: string;
        firstSeen: string;
        lastSeen: string;
        status: 'pending' | 'approved' | 'denied' | 'revoked';
      })[];
      approved: ({
        id: string;
        name: string;
        agentId: string | null;
        ip: string;
        firstSeen: string;
        lastSeen: string;
        status: 'pending' | 'approved' | 'denied' | 'revoked';
      })[];
    };
  };
  /** How a pairing stands; the bearer is the device’s secret. An approved device is given its token */
  'GET /api/devices/pair/:deviceId': {
    params: { deviceId: string };
    reply: {
      status: 'pending' | 'approved' | 'denied' | 'revoked';
      token?: string;
    };
  };
  /** State of the platform */
  'GET /api/health': {
    reply: {
      status: 'ok';
      health: 'healthy' | 'degraded' | 'unhealthy';
      timestamp: string;
      checks: {
        database: boolean;
        backend: boolean;
        redis?: boolean;
      };
    };
  };
  /** How often the agent is woken */
  'GET /api/heartbeat': {
    query: {
      agentId: string;
    };
    reply: {
      heartbeat: {
        frequency: string;
        enabled: boolean;
        lastHeartbeat: string | null;
        nextHeartbeat: string | null;
      };
    };
  };
  /** What waits for a person in all of the own agents, the oldest first: tool calls, visitors of widgets, and the oldest 50 payments; and what was put off, done with or decided, the newest first */
  'GET /api/inbox': {
    reply: {
      items: ({
        id: string;
        agentId: string;
        agentName: string;
        at: string;
        kind: 'approval';
        sessionId: string;
        tool: string;
        args: string;
        question?: {
          message: string;
          title?: string;
          options?: string[];
        };
      } | {
        id: string;
        agentId: string;
        agentName: string;
        at: string;
        kind: 'visitor';
        sessionId: string;
        state: 'waiting' | 'person';
        widgetTitle: string;
        origin: string;
        words: string;
      })[];
      payments: ({
        id: string;
        agentId: string;
        agentName: string;
        amount: string;
        currency: string;
        recipient: string;
        endpoint: string | null;
        method: string;
        createdAt: string;
      })[];
      hasMore: boolean;
      marks: ({
        item: string;
        state: 'later' | 'done' | 'decided';
        until: string | null;
        words: string;
        taskId: string | null;
        markedAt: string;
      })[];
    };
  };
  /** The caller’s installations */
  'GET /api/installations': {
    reply: {
      success: true;
      count: number;
      installations: ({
        user_id: string;
        mode: 'home' | 'link' | 'cloud';
        registered_at: string;
        last_seen: string;
        status: 'active' | 'inactive';
      })[];
    };
  };
  /** Where and how an agent runs */
  'GET /api/instance/:userId': {
    params: { userId: string };
    reply: {
      userId: string;
      status: 'pending' | 'provisioning' | 'running' | 'active' | 'stopped' | 'error' | 'failed';
      plan: string;
      runtimeVersion: string;
      agentId: string;
      startedAt: string | null;
      subdomain: string;
      url: string;
    };
  };
  /** What an agent uses */
  'GET /api/instance/:userId/stats': {
    params: { userId: string };
    reply: {
      userId: string;
      status: 'pending' | 'provisioning' | 'running' | 'active' | 'stopped' | 'error' | 'failed';
      plan: string;
      runtimeVersion: string;
      cpu: number | null;
      memory: number | null;
    };
  };
  /** Whether an account can be made here: by anybody, with an invitation, or not at all */
  'GET /api/joining': {
    reply: {
      mode: 'open' | 'invite' | 'closed';
    };
  };
  /** The own API keys */
  'GET /api/keys': {
    reply: {
      keys: ({
        id: string;
        name: string;
        keyPreview: string;
        createdAt: string;
        lastUsed: string | null;
        origins: string[];
      })[];
    };
  };
  /** One API key */
  'GET /api/keys/:id': {
    params: { id: string };
    reply: {
      id: string;
      name: string;
      keyPreview: string;
      createdAt: string;
      lastUsed: string | null;
      origins: string[];
    };
  };
  /** Collections of documents */
  'GET /api/knowledge': {
    reply: {
      collections: ({
        id: string;
        name: string;
        description: string;
        documents: number;
        waiting: number;
        failed: number;
        passages: number;
        agents: ({
          id: string;
          name: string;
        })[];
        embeddings: string | null;
        embedded: number;
        meaningNote: string | null;
        createdAt: string;
        updatedAt: string;
      })[];
    };
  };
  /** Documents of a collection, the newest first */
  'GET /api/knowledge/:id/documents': {
    params: { id: string };
    query?: {
      limit?: string;
      offset?: string;
    };
    reply: {
      documents: ({
        id: string;
        name: string;
        title: string | null;
        source: 'file' | 'text' | 'url';
        url: string | null;
        kind: string | null;
        state: 'waiting' | 'ready' | 'failed';
        error: string | null;
        notes: string[];
        bytes: number;
        passages: number;
        everyHours: number | null;
        readAt: string | null;
        nextReadAt: string | null;
        createdAt: string;
      })[];
      total: number;
    };
  };
  /** A document and how it is */
  'GET /api/knowledge/documents/:id': {
    params: { id: string };
    reply: {
      id: string;
      name: string;
      title: string | null;
      source: 'file' | 'text' | 'url';
      url: string | null;
      kind: string | null;
      state: 'waiting' | 'ready' | 'failed';
      error: string | null;
      notes: string[];
      bytes: number;
      passages: number;
      everyHours: number | null;
      readAt: string | null;
      nextReadAt: string | null;
      createdAt: string;
    };
  };
  /** A passage with those around it */
  'GET /api/knowledge/documents/:id/passages/:index': {
    params: { id: string; index: string };
    query?: {
      around?: string;
    };
    reply: {
      passages: ({
        documentId: string;
        document: string;
        url: string | null;
        collectionId: string;
        collection: string;
        index: number;
        of: number;
        place: string;
        heading: string;
        text: string;
      })[];
    };
  };
  /** The passages that fit a question best, of one collection or all */
  'GET /api/knowledge/search': {
    query: {
      query: string;
      collection?: string;
      limit?: string;
    };
    reply: {
      passages: ({
        documentId: string;
        document: string;
        url: string | null;
        collectionId: string;
        collection: string;
        index: number;
        of: number;
        place: string;
        heading: string;
        text: string;
        score: number;
      })[];
    };
  };
  /** Everything that moves, as server-sent events: `changed` names what to read again, `step` and `delta` are what happens in the conversations that are watched, `stage` is what has changed of GET /api/stage, in its shape, with `gone` for the ids of agents that are no more. `ready` comes first and names what may have changed since you read (`since`); Last-Event-ID goes on where a reader stopped */
  'GET /api/live': {
    query?: {
      watch?: string;
      stage?: 'true';
      since?: string;
    };
    reply: string;
  };
  /** MCP servers of all of your agents, and how they are with each */
  'GET /api/mcp-servers': {
    reply: {
      servers: ({
        name: string;
        url?: string;
        command?: string;
        args: string[];
        headers: string[];
        clientId?: string;
        env: string[];
        tools?: string[];
        pin?: {
          name: string;
          version: string;
          integrity: string;
          packages: number;
          at: string;
        };
        approval: 'allow' | 'ask' | 'deny';
        forAll: boolean;
        isConnected: boolean;
        agents: ({
          agentId: string;
          name: string;
          uses: boolean;
          state: 'unused' | 'connected' | 'failed' | 'consent';
          error?: string;
          offered?: string[];
          at?: string;
        })[];
      })[];
      count: number;
      most: number;
    };
  };
  /** Called by the browser after its owner agreed; redirects to the agent’s page */
  'GET /api/mcp/callback': {
    query?: {
      code?: string;
      state?: string;
      iss?: string;
      error?: string;
    };
    reply: string;
  };
  /** What the agent remembers */
  'GET /api/memory': {
    query: {
      agentId: string;
      offset?: string;
    };
    reply: {
      memory: Record<string, unknown>;
      unnamed: string[];
      agentId: string;
      count: number;
      lastUpdated: string | null;
      hasMore: boolean;
    };
  };
  /** What the user’s agents did, measured */
  'GET /api/metrics': {
    reply: {
      metrics: {
        agents: {
          total: number;
          running: number;
          stopped: number;
          failed: number;
        };
        messages: {
          total: number;
          today: number;
        };
        deployments: {
          total: number;
          failed: number;
          last: string | null;
        };
        uptime: {
          seconds: number;
          since: string;
        };
        performance: {
          calls: number;
          averageMs: number | null;
          successRate: number | null;
        };
        storage: {
          memories: number;
          memoryBytes: number;
          events: number;
        };
      };
      timestamp: string;
      status: 'ok';
      plan: string | null;
    };
  };
  /** Your own keys at providers of models, and which agents think on them */
  'GET /api/model-keys': {
    reply: {
      keys: ({
        provider: string;
        ending: string;
        agents: ({
          id: string;
          name: string;
        })[];
      })[];
    };
  };
  /** The models that the caller can give an agent: those of the plan that a provider is set up for */
  'GET /api/models': {
    reply: {
      models: ({
        id: string;
        name: string;
        description: string;
        inputCost: number;
        outputCost: number;
        contextWindow: number;
        sees: boolean;
      })[];
      default: string;
      sandboxOnly: boolean;
    };
  };
  /** What needs attention, newest first; with `Accept: text/event-stream`, new ones as they come */
  'GET /api/notices': {
    query?: {
      limit?: string;
    };
    reply: {
      notices: ({
        id: string;
        kind: 'agent_failed' | 'task_failing' | 'device_waiting' | 'spend_cap_near' | 'installation_quiet' | 'message_failed' | 'payment_waiting' | 'access_asked' | 'defaults_not_taken';
        message: string;
        link: string | null;
        createdAt: string;
        readAt: string | null;
      })[];
      unread: number;
    };
  };
  /** Whether plans can be bought here; prices mean something only then */
  'GET /api/offers': {
    reply: {
      sold: boolean;
    };
  };
  /** Is the payment gateway there? */
  'GET /api/paygate': {
    reply: {
      gateway: string;
      status: string;
      [key: string]: unknown;
    };
  };
  /** The twelve ready-made teams */
  'GET /api/provision/team/templates': {
    reply: {
      templates: ({
        key: string;
        name: string;
        description: string;
        agent_count: number;
        agents: ({
          name: string;
          role: string;
        })[];
      })[];
      categories: ({
        key: string;
        label: string;
        templates: string[];
      })[];
    };
  };
  /** The browsers that are told, of what, and the key that a new one subscribes with */
  'GET /api/push': {
    reply: {
      publicKey: string;
      kinds: Record<string, boolean>;
      subscriptions: ({
        id: string;
        endpoint: string;
        name: string;
        createdAt: string;
        toldAt: string | null;
      })[];
    };
  };
  /** Scheduled tasks, newest first */
  'GET /api/scheduled-tasks': {
    query?: {
      agentId?: string;
      limit?: string;
      offset?: string;
    };
    reply: {
      tasks: ({
        id: string;
        name: string;
        description: string | null;
        cronSchedule: string;
        timezone: string;
        prompt: string;
        enabled: boolean;
        lastRun: string | null;
        nextRun: string | null;
        agentId: string;
        tells: 'telegram' | 'slack' | 'email' | 'discord' | 'whatsapp' | null;
        createdAt: string;
        updatedAt: string;
      })[];
      count: number;
      hasMore: boolean;
    };
  };
  /** What came of each due occurrence, newest first */
  'GET /api/scheduled-tasks/:id/runs': {
    params: { id: string };
    query?: {
      limit?: string;
    };
    reply: {
      runs: ({
        id: string;
        dueAt: string;
        occurrences: number;
        startedAt: string;
        finishedAt: string | null;
        status: 'waiting' | 'running' | 'succeeded' | 'failed' | 'skipped';
        output: string | null;
        error: string | null;
        source: 'schedule' | 'webhook' | 'api' | 'file' | 'email' | 'task';
        triggerId: string | null;
        input: string | null;
      })[];
      count: number;
    };
  };
  /** What became of one run */
  'GET /api/scheduled-tasks/:id/runs/:runId': {
    params: { id: string; runId: string };
    reply: {
      id: string;
      dueAt: string;
      occurrences: number;
      startedAt: string;
      finishedAt: string | null;
      status: 'waiting' | 'running' | 'succeeded' | 'failed' | 'skipped';
      output: string | null;
      error: string | null;
      source: 'schedule' | 'webhook' | 'api' | 'file' | 'email' | 'task';
      triggerId: string | null;
      input: string | null;
    };
  };
  /** What starts a task beside its schedule */
  'GET /api/scheduled-tasks/:id/triggers': {
    params: { id: string };
    reply: {
      triggers: ({
        id: string;
        taskId: string;
        kind: 'webhook' | 'file' | 'email' | 'task';
        enabled: boolean;
        address: string | null;
        pattern: string | null;
        sender: string | null;
        afterTaskId: string | null;
        outcome: 'succeeded' | 'failed' | 'any' | null;
        problem: string | null;
        oldSecretUntil: string | null;
        lastAt: string | null;
        createdAt: string;
      })[];
    };
  };
  /** What has all of these words, over all of the own agents: agents by name, conversations by title and by what was said (the newest 5,000 messages of each agent, 50,000 together), files by path; up to 20 of each */
  'GET /api/search': {
    query: {
      q: string;
    };
    reply: {
      agents: ({
        id: string;
        name: string;
      })[];
      conversations: ({
        agentId: string;
        agentName: string;
        sessionId: string;
        title: string;
        at: string;
        seq: number | null;
      })[];
      files: ({
        agentId: string;
        agentName: string;
        path: string;
        isFolder: boolean;
      })[];
      unread: string[];
    };
  };
  /** Whether the receiver of security events is up, and what it understands */
  'GET /api/security/risc': {
    reply: {
      status: 'ok';
      endpoint: string;
      description: string;
      events_supported: string[];
    };
  };
  /** The own profile */
  'GET /api/settings': {
    reply: {
      id: string;
      email: string;
      emailVerified: boolean;
      name: string;
      plan: 'solo' | 'collective' | 'label' | 'network' | null;
      credits: number;
      twoFactorEnabled: boolean;
      notifications: Record<string, unknown>;
      instance: {
        id: string;
        url: string;
      } | null;
    };
  };
  /** The own second factors, and how this session can be confirmed */
  'GET /api/settings/factors': {
    reply: {
      factors: ({
        id: string;
        kind: 'totp' | 'passkey';
        name: string;
        createdAt: string;
        lastUsed: string | null;
      })[];
      recoveryCodesLeft: number;
      confirmedUntil: string | null;
      confirmWith: ('password' | 'passkey' | 'totp' | 'recovery')[];
      passkeys: boolean;
      password: 'own' | 'given' | null;
    };
  };
  /** A conversation that somebody shows */
  'GET /api/shared/:token': {
    params: { token: string };
    reply: {
      title: string;
      agent: string;
      createdAt: string;
      messages: ({
        role: 'user' | 'assistant';
        text: string;
        at: string;
      })[];
    };
  };
  /** The library of skills, what waits for a review, and what comes with the platform */
  'GET /api/skills': {
    reply: {
      skills: ({
        id: string;
        name: string;
        description: string;
        digest: string;
        bytes: number;
        source: string;
        version: number;
        files: number;
        scripts: number;
        agents: ({
          id: string;
          name: string;
          behind: boolean;
        })[];
        acceptedAt: string | null;
      })[];
      reviews: ({
        id: string;
        name: string;
        description: string;
        digest: string;
        bytes: number;
        source: string;
        replaces: string | null;
        dangers: number;
        warnings: number;
        createdAt: string;
      })[];
      builtIn: ({
        name: string;
        description: string;
      })[];
    };
  };
  /** A skill of the library: its newest version */
  'GET /api/skills/:id': {
    params: { id: string };
    reply: {
      name: string;
      description: string;
      digest: string;
      bytes: number;
      source: string;
      license?: string;
      compatibility?: string;
      metadata: Record<string, string>;
      allowedTools: string[];
      id: string;
      version: number;
      report: {
        scripts: ({
          path: string;
          interpreter: string;
          lines: number;
        })[];
        hosts: string[];
        findings: ({
          level: 'danger' | 'warning' | 'note';
          code: string;
          text: string;
          path: string;
          line?: number;
          excerpt?: string;
        })[];
        leftOut: string[];
      };
      files: ({
        path: string;
        bytes: number;
        sha256: string;
        kind: 'text' | 'script' | 'picture' | 'font' | 'document' | 'program' | 'binary';
      })[];
      acceptedAt: string | null;
    };
  };
  /** A file of its newest version */
  'GET /api/skills/:id/file': {
    params: { id: string };
    query: {
      path: string;
    };
    reply: {
      path: string;
      bytes: number;
      text: string | null;
    };
  };
  /** What waits for a review, and what it would change */
  'GET /api/skills/reviews/:id': {
    params: { id: string };
    reply: {
      name: string;
      description: string;
      digest: string;
      bytes: number;
      source: string;
      license?: string;
      compatibility?: string;
      metadata: Record<string, string>;
      allowedTools: string[];
      id: string;
      skillId: string | null;
      replaces: string | null;
      report: {
        scripts: ({
          path: string;
          interpreter: string;
          lines: number;
        })[];
        hosts: string[];
        findings: ({
          level: 'danger' | 'warning' | 'note';
          code: string;
          text: string;
          path: string;
          line?: number;
          excerpt?: string;
        })[];
        leftOut: string[];
      };
      files: ({
        path: string;
        bytes: number;
        sha256: string;
        kind: 'text' | 'script' | 'picture' | 'font' | 'document' | 'program' | 'binary';
        change: 'added' | 'changed' | 'removed' | 'same';
      })[];
      createdAt: string;
    };
  };
  /** A file of it; with `side=old` as the library has it */
  'GET /api/skills/reviews/:id/file': {
    params: { id: string };
    query: {
      path: string;
      side?: 'new' | 'old';
    };
    reply: {
      path: string;
      bytes: number;
      text: string | null;
    };
  };
  /** Every agent as it is at this moment: at work on what, waiting for a decision, ready, off or in trouble; GET /api/live with `stage=true` tells what of it changes, within a second or two */
  'GET /api/stage': {
    reply: {
      agents: ({
        id: string;
        name: string;
        teamId: string | null;
        teamName: string | null;
        state: 'working' | 'waits' | 'ready' | 'off' | 'trouble';
        sessionId: string | null;
        about: string | null;
        handedBy: string | null;
        since: string | null;
        tags: string[];
        said: {
          text: string;
          at: string;
        } | null;
        next: {
          name: string;
          at: string;
        } | null;
        spentUsd: number;
      })[];
      more: boolean;
      todayUsd: number;
    };
  };
  /** The own teams, their agents and the documents that they run from */
  'GET /api/teams': {
    query?: {
      limit?: string;
      offset?: string;
    };
    reply: {
      teams: ({
        teamId: string;
        name: string;
        template: string | null;
        createdAt: string;
        yaml_config: string;
        agents: ({
          agentId: string;
          name: string;
          status: string;
        })[];
      })[];
      count: number;
      hasMore: boolean;
    };
  };
  /** Usage of one agent by model */
  'GET /api/usage/by-agent/:agentId': {
    params: { agentId: string };
    query?: {
      days?: string;
    };
    reply: {
      rows: ({
        model: string;
        provider: string;
        input_tokens: number;
        output_tokens: number;
        total_tokens: number;
        cost_usd: number;
        events: number;
      })[];
      count: number;
      days: number;
    };
  };
  /** Usage by model */
  'GET /api/usage/by-model': {
    query?: {
      days?: string;
    };
    reply: {
      rows: ({
        model: string;
        provider: string;
        input_tokens: number;
        output_tokens: number;
        total_tokens: number;
        cost_usd: number;
        turns: number;
      })[];
      count: number;
      days: number;
    };
  };
  /** Spend caps, token quota and credits */
  'GET /api/usage/caps': {
    reply: {
      caps: ({
        scope: 'user' | 'agent' | 'run' | 'team';
        agentId: string | null;
        teamId: string | null;
        period: 'day' | 'month' | 'total';
        limitUsd: number;
        usedUsd: number | null;
        reservedUsd: number | null;
        resetsAt: string | null;
      })[];
      tokens: {
        used: number;
        limit: number | null;
        enforced: boolean;
        resetsAt: string;
      };
      credits: number;
    };
  };
  /** Usage by day, days without any included */
  'GET /api/usage/daily': {
    query?: {
      days?: string;
    };
    reply: {
      rows: ({
        date: string;
        total_tokens: number;
        cost_usd: number;
        turns: number;
      })[];
      count: number;
      days: number;
    };
  };
  /** Usage by day, agent and model; of all agents or of one */
  'GET /api/usage/summary': {
    query?: {
      days?: string;
      agentId?: string;
    };
    reply: {
      rows: ({
        date: string;
        agent_id: string;
        model: string;
        provider: string;
        input_tokens: number;
        output_tokens: number;
        total_tokens: number;
        cost_usd: number;
        turn_count: number;
      })[];
      count: number;
      days: number;
    };
  };
  /** How often the agents used each tool */
  'GET /api/usage/tools': {
    query?: {
      agentId?: string;
      days?: string;
    };
    reply: {
      rows: ({
        tool_name: string;
        calls: number;
        successes: number;
        avg_ms: number;
      })[];
      count: number;
      days: number;
    };
  };
  /** Stablecoin balances of an address, or the own wallet */
  'GET /api/wallet': {
    query?: {
      address?: string;
    };
    reply: {
      address: string;
      chain: string;
      chainId: number;
      testnet: boolean;
      totalUsd: string;
      primaryToken: {
        address: string;
        name: string;
        symbol: string;
        balance: string;
        decimals: number;
      } | null;
      allTokens: ({
        address: string;
        name: string;
        symbol: string;
        balance: string;
      })[];
    } | {
      agenticWallet: {
        status: string;
        projectId: string | null;
        features: string[];
      };
      instructions: string;
    } | {
      address: string;
      balance: string;
      network: string;
      hasWallet: true;
      createdAt: string;
    } | {
      address: null;
      balance: string;
      network: string;
      hasWallet: false;
      message: string;
    };
  };
  /** Address of the own wallet */
  'GET /api/wallet/address': {
    reply: {
      authenticated: true;
      address: string;
    } | {
      authenticated: false;
      needsAuth: true;
      message: string;
    } | {
      authenticated: true;
      address: null;
      error: string;
      setup: string;
    };
  };
  /** Which custody is offered, and on which chains */
  'GET /api/wallet/cdp': {
    reply: {
      status: 'configured' | 'not_configured';
      type: 'cdp' | 'local';
      supportedChains: string[];
    };
  };
  /** Balance of an address on the platform, for its owner, an administrator, or with a signature by the address (headers x-wallet-signature, x-wallet-timestamp) */
  'GET /api/wallet/ledger': {
    query: {
      address: string;
      limit?: string;
    };
    reply: {
      address: string;
      balance: string;
      available: string;
      owed?: string;
      entries: ({
        id: string;
        kind: string;
        amount: string;
        balance: string;
        timestamp: string;
      })[];
    };
  };
  /** One session by sessionId, or the newest hundred of an address */
  'GET /api/wallet/sessions': {
    query?: {
      sessionId: string;
    } | {
      address: string;
    };
    reply: {
      session: {
        id: string;
        userAddress: string;
        deposit: string;
        spent: string;
        remaining: string;
        vouchers: ({
          plugin: string;
          timestamp: number;
          amount: string;
        })[];
        status: 'active' | 'settling' | 'closed';
        createdAt: number;
        lastSettledAt: number;
        sandbox?: true;
      };
    } | {
      sessions: ({
        id: string;
        userAddress: string;
        deposit: string;
        spent: string;
        remaining: string;
        vouchers: ({
          plugin: string;
          timestamp: number;
          amount: string;
        })[];
        status: 'active' | 'settling' | 'closed';
        createdAt: number;
        lastSettledAt: number;
        sandbox?: true;
      })[];
    };
  };
  /** Open a checkout at the card processor that credits an address */
  'GET /api/wallet/top-up': {
    query: {
      amount?: '500' | '1000' | '2500' | '5000';
      address: string;
    };
    reply: {
      url: string;
      sessionId: string;
    };
  };
  /** Stablecoin transfers of an address that is a wallet on this platform */
  'GET /api/wallet/transactions': {
    query: {
      address: string;
      limit?: string;
    };
    reply: {
      address: string;
      chain: string;
      chainId: number;
      currentBlock: number;
      transactions: ({
        hash: string;
        direction: 'in' | 'out' | 'self';
        from: string;
        to: string;
        token: string;
        symbol: string;
        amount: string;
        blockNumber: number;
        timestamp: string;
      })[];
      note: string;
      explorerUrl: string;
    };
  };
  /** Where you are told what happens */
  'GET /api/webhooks': {
    reply: {
      webhooks: ({
        id: string;
        url: string;
        events: ('run.finished' | 'approval.waiting' | 'task.succeeded' | 'task.failed' | 'payment.waiting' | 'payment.paid' | 'payment.failed' | 'notice.raised')[];
        enabled: boolean;
        createdAt: string;
      })[];
      events: string[];
    };
  };
  /** What was told, newest first; kept for 30 days, 2,000 at most */
  'GET /api/webhooks/:id/deliveries': {
    params: { id: string };
    query?: {
      limit?: string;
    };
    reply: {
      deliveries: ({
        id: string;
        type: string;
        data: Record<string, unknown>;
        at: string;
        status: 'pending' | 'delivered' | 'failed';
        attempts: number;
        answered: number | null;
        problem: string | null;
        endedAt: string | null;
      })[];
    };
  };
  /** A visitor’s own conversation as server-sent events: `message`, `delta`, `end`, `waits`, `state`, `closed`; after Last-Event-ID */
  'GET /api/widgets/:key/events': {
    params: { key: string };
    reply: string;
  };
  /** Shell script that installs an agent runtime on this machine */
  'GET /install': {
    reply: string;
  };
  /** Shell script that connects an agent runtime that runs already */
  'GET /link': {
    reply: string;
  };
  /** Older MCP clients look for a stream of news here: there is none */
  'GET /mcp': {
    reply: string;
  };
  /** What Troupe is as a client of MCP servers: its client id is this address */
  'GET /oauth/client.json': {
    reply: {
      client_id: string;
      redirect_uris: string[];
      [key: string]: unknown;
    };
  };
  /** The page of a widget */
  'GET /w/:key': {
    params: { key: string };
    reply: string;
  };
  /** Change a provider’s address, key or models, or switch it on and off */
  'PATCH /api/admin/providers/:id': {
    params: { id: string };
    body?: {
      baseUrl?: string;
      apiKey?: string;
      models?: string[];
      enabled?: boolean;
    };
    reply: {
      provider: {
        id: string | null;
        kind: string;
        name: string;
        baseUrl: string | null;
        hasKey: boolean;
        models: string[] | null;
        enabled: boolean;
        createdAt: string | null;
      };
    };
  };
  /** Change a user's plan or subscription; recorded in the audit log */
  'PATCH /api/admin/users/:id': {
    params: { id: string };
    body?: {
      plan?: 'solo' | 'collective' | 'label' | 'network' | null;
      subscriptionStatus?: 'active' | 'inactive' | 'past_due' | 'cancelled';
    };
    reply: {
      id: string;
      email: string;
      emailVerified: boolean;
      name: string;
      isAdmin: boolean;
      plan: 'solo' | 'collective' | 'label' | 'network' | null;
      subscriptionStatus: 'active' | 'inactive' | 'past_due' | 'cancelled';
      credits: number;
      secondFactor: boolean;
      eraseAt: string | null;
      createdAt: string;
    };
  };
  /** Rename an agent */
  'PATCH /api/agents/:id': {
    params: { id: string };
    body: {
      name: string;
    };
    reply: {
      success: true;
      agent: {
        id: string;
        name: string;
        status: 'pending' | 'provisioning' | 'running' | 'active' | 'stopped' | 'error' | 'failed';
        updatedAt: string;
      };
    };
  };
  /** Rename, pin or put away a conversation, with all its branches */
  'PATCH /api/agents/:id/sessions/:sessionId': {
    params: { id: string; sessionId: string };
    body?: {
      title?: string;
      pinned?: boolean;
      archived?: boolean;
    };
    reply: {
      session: {
        id: string;
        channel: string;
        key: string;
        status: 'idle' | 'open' | 'waiting';
        lastSeq: number;
        createdAt: string;
        updatedAt: string;
        title?: string;
        pinned?: boolean;
        archived?: boolean;
        branchOf?: string | null;
        branchAt?: number | null;
        [key: string]: unknown;
      };
    };
  };
  /** Change a widget; switched off it ends for everybody at once */
  'PATCH /api/agents/:id/widgets/:widgetId': {
    params: { id: string; widgetId: string };
    body?: {
      title?: string;
      greeting?: string;
      colour?: string;
      scheme?: 'light' | 'dark' | 'auto';
      enabled?: boolean;
      hosted?: boolean;
      origins?: string[];
      abilities?: 'answers' | 'all';
      handsOver?: boolean;
      messagesPerHour?: number;
      dailyCapUsd?: number;
      retentionDays?: number;
    };
    reply: {
      widget: {
        id: string;
        agentId: string;
        publicKey: string;
        title: string;
        greeting: string;
        colour: string;
        scheme: 'light' | 'dark' | 'auto';
        enabled: boolean;
        hosted: boolean;
        origins: unknown[];
        abilities: 'answers' | 'all';
        handsOver: boolean;
        messagesPerHour: number;
        dailyCapUsd: number;
        retentionDays: number;
        address: string;
        embed: string;
        spentTodayUsd: number;
        createdAt: string;
      };
    };
  };
  /** Rename a collection, say what is in it, or by which model it is also searched by meaning */
  'PATCH /api/knowledge/:id': {
    params: { id: string };
    body?: {
      name?: string;
      description?: string;
      embeddings?: string | null;
    };
    reply: {
      id: string;
      name: string;
      description: string;
      documents: number;
      waiting: number;
      failed: number;
      passages: number;
      agents: ({
        id: string;
        name: string;
      })[];
      embeddings: string | null;
      embedded: number;
      meaningNote: string | null;
      createdAt: string;
      updatedAt: string;
    };
  };
  /** How often a page is read again */
  'PATCH /api/knowledge/documents/:id': {
    params: { id: string };
    body: {
      everyHours: number | null;
    };
    reply: {
      id: string;
      name: string;
      title: string | null;
      source: 'file' | 'text' | 'url';
      url: string | null;
      kind: string | null;
      state: 'waiting' | 'ready' | 'failed';
      error: string | null;
      notes: string[];
      bytes: number;
      passages: number;
      everyHours: number | null;
      readAt: string | null;
      nextReadAt: string | null;
      createdAt: string;
    };
  };
  /** Change who has an MCP server, which of its tools, and what is asked about; its secrets stay */
  'PATCH /api/mcp-servers/:name': {
    params: { name: string };
    body?: {
      approval?: 'allow' | 'ask' | 'deny';
      forAll?: boolean;
      agents?: string[];
      tools?: string[] | null;
    };
    reply: {
      server: {
        name: string;
        url?: string;
        command?: string;
        args: string[];
        headers: string[];
        clientId?: string;
        env: string[];
        tools?: string[];
        pin?: {
          name: string;
          version: string;
          integrity: string;
          packages: number;
          at: string;
        };
        approval: 'allow' | 'ask' | 'deny';
        forAll: boolean;
        isConnected: boolean;
        agents: ({
          agentId: string;
          name: string;
          uses: boolean;
          state: 'unused' | 'connected' | 'failed' | 'consent';
          error?: string;
          offered?: string[];
          at?: string;
        })[];
      };
    };
  };
  /** Switch a trigger on or off */
  'PATCH /api/scheduled-tasks/:id/triggers/:triggerId': {
    params: { id: string; triggerId: string };
    body: {
      enabled: boolean;
    };
    reply: {
      trigger: {
        id: string;
        taskId: string;
        kind: 'webhook' | 'file' | 'email' | 'task';
        enabled: boolean;
        address: string | null;
        pattern: string | null;
        sender: string | null;
        afterTaskId: string | null;
        outcome: 'succeeded' | 'failed' | 'any' | null;
        problem: string | null;
        oldSecretUntil: string | null;
        lastAt: string | null;
        createdAt: string;
      };
    };
  };
  /** Change name or notifications */
  'PATCH /api/settings': {
    body?: {
      name?: string;
      notifications?: Record<string, unknown>;
    };
    reply: {
      id: string;
      email: string;
      emailVerified: boolean;
      name: string;
      plan: 'solo' | 'collective' | 'label' | 'network' | null;
      credits: number;
      twoFactorEnabled: boolean;
      notifications: Record<string, unknown>;
      instance: {
        id: string;
        url: string;
      } | null;
    };
  };
  /** Change an address, what it is told, or whether */
  'PATCH /api/webhooks/:id': {
    params: { id: string };
    body?: {
      url?: string;
      events?: ('run.finished' | 'approval.waiting' | 'task.succeeded' | 'task.failed' | 'payment.waiting' | 'payment.paid' | 'payment.failed' | 'notice.raised')[];
      enabled?: boolean;
    };
    reply: {
      webhook: {
        id: string;
        url: string;
        events: ('run.finished' | 'approval.waiting' | 'task.succeeded' | 'task.failed' | 'payment.waiting' | 'payment.paid' | 'payment.failed' | 'notice.raised')[];
        enabled: boolean;
        createdAt: string;
      };
    };
  };
  /** Ask the administrators for a plan; asked again, only the note changes */
  'POST /api/access': {
    body?: {
      note?: string;
    };
    reply: {
      state: 'member' | 'none' | 'asked' | 'refused';
      plan: 'solo' | 'collective' | 'label' | 'network' | null;
      endsAt: string | null;
      sold: boolean;
      askedAt: string | null;
      note: string;
      answer: string;
    };
  };
  /** Close the account: agents stop, keys and sessions end; a week later it is erased */
  'POST /api/account/close': {
    body?: {
      giveUpMoney?: boolean;
    };
    reply: {
      eraseAt: string;
    };
  };
  /** Keep an account that was closed; what was stopped stays so until it is started again */
  'POST /api/account/keep': {
    reply: {
      success: true;
    };
  };
  /** Grant a plan to somebody who asked, or refuse; they are told live and by mail */
  'POST /api/admin/access/:id': {
    params: { id: string };
    body?: {
      grant: 'solo' | 'collective' | 'label' | 'network';
    } | {
      refuse: true;
      answer?: string;
    };
    reply: {
      success: true;
    };
  };
  /** Mail an invite that brings an active solo plan */
  'POST /api/admin/invites': {
    body: {
      email: string;
    };
    reply: {
      success: true;
      code: string;
      email: string;
      inviteUrl: string;
    };
  };
  /** Add a provider; it is used from now on */
  'POST /api/admin/providers': {
    body: {
      kind: 'openrouter' | 'anthropic' | 'openai' | 'gemini' | 'groq' | 'azure' | 'bedrock' | 'vertex' | 'ollama' | 'compatible';
      name?: string;
      baseUrl?: string;
      apiKey?: string;
      models?: string[];
    };
    reply: {
      provider: {
        id: string | null;
        kind: string;
        name: string;
        baseUrl: string | null;
        hasKey: boolean;
        models: string[] | null;
        enabled: boolean;
        createdAt: string | null;
      };
    };
  };
  /** Try a provider before it is added, or one that is there by its `id`: lists its models and asks one a word */
  'POST /api/admin/providers/test': {
    body?: {
      id: string;
    } | {
      kind: 'openrouter' | 'anthropic' | 'openai' | 'gemini' | 'groq' | 'azure' | 'bedrock' | 'vertex' | 'ollama' | 'compatible';
      name?: string;
      baseUrl?: string;
      apiKey?: string;
      models?: string[];
    };
    reply: {
      ok: boolean;
      message: string;
      models: number;
      model: string | null;
      ms: number | null;
    };
  };
  /** Allow or refuse a tool call that waits, or answer a question */
  'POST /api/agents/:id/approvals/:approvalId': {
    params: { id: string; approvalId: string };
    body: {
      approved: boolean;
      answer?: string;
      always?: {
        within: string | null;
      };
    };
    reply: {
      success: true;
    };
  };
  /** Stop a task in the background; the agent is told */
  'POST /api/agents/:id/background/:taskId/stop': {
    params: { id: string; taskId: string };
    reply: {
      success: true;
      stopped: boolean;
    };
  };
  /** Copy an agent: definition, configuration, memory, conversations and files */
  'POST /api/agents/:id/backups': {
    params: { id: string };
    reply: {
      success: true;
      backup: {
        id: string;
        createdAt: string;
        size: number;
        reason: 'manual' | 'update' | 'restore';
        image: string;
        version: string;
      };
    };
  };
  /** Put an agent back to a copy; what it is now is copied first */
  'POST /api/agents/:id/backups/:backupId/restore': {
    params: { id: string; backupId: string };
    query?: {
      force?: 'true' | 'false';
    };
    reply: {
      success: true;
      restored: string;
      safetyBackupId: string;
      status: string;
    };
  };
  /** Try a channel now; with `to`, somebody there gets a message */
  'POST /api/agents/:id/channels/:kind/test': {
    params: { id: string; kind: string };
    body?: {
      to?: string;
    };
    reply: {
      ok: boolean;
      account: string | null;
      error: string | null;
    };
  };
  /** Make and run another agent of the same kind, without memory, conversations, files, channels and team */
  'POST /api/agents/:id/duplicate': {
    params: { id: string };
    body?: {
      name?: string;
    };
    reply: {
      success: true;
      agent: {
        id: string;
        name: string;
        status: 'pending' | 'provisioning' | 'running' | 'active' | 'stopped' | 'error' | 'failed';
        websocketUrl: string;
        model: string;
        createdAt: string;
      };
    };
  };
  /** Add a case: what the agent is told, and what is expected of its answer */
  'POST /api/agents/:id/evaluation-cases': {
    params: { id: string };
    body: {
      name: string;
      input: string;
      checks: ({
        kind: 'contains';
        text: string;
      } | {
        kind: 'lacks';
        text: string;
      } | {
        kind: 'regex';
        pattern: string;
      } | {
        kind: 'schema';
        schema: Record<string, unknown>;
      } | {
        kind: 'called';
        tool: string;
        with?: string;
      } | {
        kind: 'not_called';
        tool: string;
      } | {
        kind: 'cost';
        mostUsd: number;
      } | {
        kind: 'time';
        mostSeconds: number;
      } | {
        kind: 'judge';
        criteria: string;
      })[];
      stubs?: ({
        tool: string;
        result: string;
      })[];
      maxSeconds?: number;
    };
    reply: {
      name: string;
      input: string;
      checks: ({
        kind: 'contains';
        text: string;
      } | {
        kind: 'lacks';
        text: string;
      } | {
        kind: 'regex';
        pattern: string;
      } | {
        kind: 'schema';
        schema: Record<string, unknown>;
      } | {
        kind: 'called';
        tool: string;
        with?: string;
      } | {
        kind: 'not_called';
        tool: string;
      } | {
        kind: 'cost';
        mostUsd: number;
      } | {
        kind: 'time';
        mostSeconds: number;
      } | {
        kind: 'judge';
        criteria: string;
      })[];
      stubs: ({
        tool: string;
        result: string;
      })[];
      maxSeconds: number;
      id: string;
      revision: number;
      updatedAt: string;
    };
  };
  /** Make a case of a finished run: its prompt, the tools that it called, and what those answered that are not run in a trial */
  'POST /api/agents/:id/evaluation-cases/from-run': {
    params: { id: string };
    body: {
      sessionId: string;
      run: number;
    };
    reply: {
      name: string;
      input: string;
      checks: ({
        kind: 'contains';
        text: string;
      } | {
        kind: 'lacks';
        text: string;
      } | {
        kind: 'regex';
        pattern: string;
      } | {
        kind: 'schema';
        schema: Record<string, unknown>;
      } | {
        kind: 'called';
        tool: string;
        with?: string;
      } | {
        kind: 'not_called';
        tool: string;
      } | {
        kind: 'cost';
        mostUsd: number;
      } | {
        kind: 'time';
        mostSeconds: number;
      } | {
        kind: 'judge';
        criteria: string;
      })[];
      stubs: ({
        tool: string;
        result: string;
      })[];
      maxSeconds: number;
      id: string;
      revision: number;
      updatedAt: string;
    };
  };
  /** Try all cases on the agent as it is, or with a change, in conversations that leave no trace in it. With `takes` the change is made when all have passed */
  'POST /api/agents/:id/evaluations': {
    params: { id: string };
    body?: {
      change?: {
        config?: Record<string, unknown>;
        purpose?: {
          instruction?: string;
          tools?: string[];
        };
        skill?: {
          id: string;
          on: boolean;
          digest?: string;
        };
        collection?: {
          id: string;
          on: boolean;
        };
      };
      takes?: boolean;
      maxCostUsd?: number;
    };
    reply: {
      id: string;
      status: 'running' | 'passed' | 'failed' | 'stopped';
      isProposal: boolean;
      takes: boolean;
      takenAt: string | null;
      notTaken: string | null;
      cases: number;
      passed: number;
      over: number;
      costUsd: number;
      createdAt: string;
      finishedAt: string | null;
    };
  };
  /** Stop an evaluation; cases that are over keep their results */
  'POST /api/agents/:id/evaluations/:evaluationId/stop': {
    params: { id: string; evaluationId: string };
    reply: {
      id: string;
      status: 'running' | 'passed' | 'failed' | 'stopped';
      isProposal: boolean;
      takes: boolean;
      takenAt: string | null;
      notTaken: string | null;
      cases: number;
      passed: number;
      over: number;
      costUsd: number;
      createdAt: string;
      finishedAt: string | null;
    };
  };
  /** Ask for access to an MCP server (OAuth): the answer says where its owner agrees */
  'POST /api/agents/:id/mcp-servers/:name/connect': {
    params: { id: string; name: string };
    reply: {
      url: string | null;
    };
  };
  /** Try an MCP server now: the answer has its tools, or why it cannot be used */
  'POST /api/agents/:id/mcp-servers/:name/test': {
    params: { id: string; name: string };
    reply: {
      name: string;
      state: 'unused' | 'connected' | 'failed' | 'consent';
      error?: string;
      offered?: string[];
      at?: string;
    };
  };
  /** Take the newest version of a program that is an npm package, and pin it */
  'POST /api/agents/:id/mcp-servers/:name/update': {
    params: { id: string; name: string };
    reply: {
      pin: {
        name: string;
        version: string;
        integrity: string;
        packages: number;
        at: string;
      };
    };
  };
  /** Decide about a fact that contradicts older memories */
  'POST /api/agents/:id/memory/facts/:factId': {
    params: { id: string; factId: string };
    body: {
      keep: 'this' | 'others' | 'all';
    };
    reply: {
      embeddings: string | null;
      memories: number;
      embedded: number;
      meaningNote: string | null;
      facts: boolean;
      factsNote: string | null;
      found: ({
        id: string;
        content: string;
        at: string;
        conversationId: string;
        message: number;
        conversation: string | null;
        contradicts: ({
          id: string;
          content: string;
          at: string;
        })[];
      })[];
    };
  };
  /** Say something to an agent without waiting for its answer: GET /api/live brings it */
  'POST /api/agents/:id/messages': {
    params: { id: string };
    body: {
      message: string;
      topic?: string;
      sessionId?: string;
      id?: string;
      attachments?: string[];
      model?: string;
    };
    reply: {
      success: true;
      sessionId: string;
      seq: number;
    };
  };
  /** Decide upon a payment: approve (it is made at once) or deny one that waits; say whether an unknown one was made */
  'POST /api/agents/:id/payments/:paymentId': {
    params: { id: string; paymentId: string };
    body: {
      decision: 'approve' | 'deny' | 'paid' | 'failed';
    };
    reply: {
      success: boolean;
      paymentId: string;
      status: string;
      [key: string]: unknown;
    };
  };
  /** Go on from an earlier step: a branch with the steps up to it, and the message said in it. All that was said stays where it is; files and memory are as they are now */
  'POST /api/agents/:id/sessions/:sessionId/branches': {
    params: { id: string; sessionId: string };
    body: {
      at: number;
      id?: string;
      attachments?: string[];
      model?: string;
      instruction?: string;
      message?: string;
    };
    reply: {
      success: true;
      sessionId: string;
      seq: number;
    };
  };
  /** Stop what the agent is doing in a session */
  'POST /api/agents/:id/sessions/:sessionId/cancel': {
    params: { id: string; sessionId: string };
    reply: {
      success: true;
      cancelled: boolean;
    };
  };
  /** A link that shows what was said until now to whoever has it: words only, no files, tools or results */
  'POST /api/agents/:id/sessions/:sessionId/share': {
    params: { id: string; sessionId: string };
    reply: {
      id: string;
      sessionId: string;
      title: string;
      createdAt: string;
      url: string;
    };
  };
  /** A finished run written down as a SKILL.md, to be edited. Nothing is kept: send it for a review when it is good */
  'POST /api/agents/:id/sessions/:sessionId/skill': {
    params: { id: string; sessionId: string };
    body: {
      run: number;
      by?: 'model' | 'rules';
    };
    reply: {
      name: string;
      content: string;
      by: 'model' | 'rules';
      isSandbox: boolean;
    };
  };
  /** A new gateway token; the old one, and what it opened, ends at once */
  'POST /api/agents/:id/token/rotate': {
    params: { id: string };
    reply: {
      success: true;
      token: string;
    };
  };
  /** Record a verification */
  'POST /api/agents/:id/verify': {
    params: { id: string };
    body: {
      verificationType: 'eas' | 'ens' | 'webauthn' | 'coinbase';
      verified?: boolean;
      attestationUid?: string;
      verifierAddress?: string;
      metadata?: Record<string, unknown>;
    };
    reply: {
      verified: boolean;
      verificationType: string | null;
      attestationUid: string | null;
      verifierAddress: string | null;
      verifiedAt: string | null;
      metadata: unknown;
      success: true;
      agentId: string;
    };
  };
  /** Answer a visitor as a person, who sees it at once; the agent is silent until the visitor is given back */
  'POST /api/agents/:id/visitors/:visitorId/reply': {
    params: { id: string; visitorId: string };
    body: {
      message: string;
      id?: string;
    };
    reply: {
      visitor: {
        id: string;
        agentId: string;
        widgetId: string;
        widgetTitle: string;
        sessionId: string | null;
        state: 'agent' | 'waiting' | 'person';
        waitingSince: string | null;
        words: string;
        origin: string;
        seenAt: string;
      };
    };
  };
  /** Let the agent answer a visitor again */
  'POST /api/agents/:id/visitors/:visitorId/return': {
    params: { id: string; visitorId: string };
    reply: {
      visitor: {
        id: string;
        agentId: string;
        widgetId: string;
        widgetTitle: string;
        sessionId: string | null;
        state: 'agent' | 'waiting' | 'person';
        waitingSince: string | null;
        words: string;
        origin: string;
        seenAt: string;
      };
    };
  };
  /** Make a widget; what is left out is as in the documentation */
  'POST /api/agents/:id/widgets': {
    params: { id: string };
    body?: {
      title?: string;
      greeting?: string;
      colour?: string;
      scheme?: 'light' | 'dark' | 'auto';
      enabled?: boolean;
      hosted?: boolean;
      origins?: string[];
      abilities?: 'answers' | 'all';
      handsOver?: boolean;
      messagesPerHour?: number;
      dailyCapUsd?: number;
      retentionDays?: number;
    };
    reply: {
      widget: {
        id: string;
        agentId: string;
        publicKey: string;
        title: string;
        greeting: string;
        colour: string;
        scheme: 'light' | 'dark' | 'auto';
        enabled: boolean;
        hosted: boolean;
        origins: unknown[];
        abilities: 'answers' | 'all';
        handsOver: boolean;
        messagesPerHour: number;
        dailyCapUsd: number;
        retentionDays: number;
        address: string;
        embed: string;
        spentTodayUsd: number;
        createdAt: string;
      };
    };
  };
  /** A new public key: pages with the old one and all its visitors are cut off at once */
  'POST /api/agents/:id/widgets/:widgetId/rotate': {
    params: { id: string; widgetId: string };
    reply: {
      widget: {
        id: string;
        agentId: string;
        publicKey: string;
        title: string;
        greeting: string;
        colour: string;
        scheme: 'light' | 'dark' | 'auto';
        enabled: boolean;
        hosted: boolean;
        origins: unknown[];
        abilities: 'answers' | 'all';
        handsOver: boolean;
        messagesPerHour: number;
        dailyCapUsd: number;
        retentionDays: number;
        address: string;
        embed: string;
        spentTodayUsd: number;
        createdAt: string;
      };
    };
  };
  /** Not available; nothing is charged */
  'POST /api/agents/clone': {
    reply: string;
  };
  /** Make and run an agent */
  'POST /api/agents/provision': {
    body: {
      name: string;
      model?: string;
      config?: Record<string, unknown>;
      tier?: string;
    };
    reply: {
      success: true;
      agent: {
        id: string;
        name: string;
        status: 'pending' | 'provisioning' | 'running' | 'active' | 'stopped' | 'error' | 'failed';
        websocketUrl: string;
        model: string;
        createdAt: string;
      };
    };
  };
  /** Gone: use /api/auth/login */
  'POST /api/auth/callback/credentials': {
    reply: string;
  };
  /** Show again who you are; for a quarter of an hour the session may do what asks for it */
  'POST /api/auth/confirm': {
    body?: {
      password?: string;
      code?: string;
      recoveryCode?: string;
      passkey?: {
        id: string;
        type: 'public-key';
        response: {
          clientDataJSON: string;
          authenticatorData: string;
          signature: string;
          userHandle?: string | null;
        };
      };
    };
    reply: {
      success: true;
      until: string;
    };
  };
  /** What a passkey has to sign to confirm the session; works once, within five minutes */
  'POST /api/auth/confirm/passkey': {
    reply: {
      challenge: string;
      rpId: string;
      userVerification: 'required';
      timeout: number;
      allowCredentials: ({
        type: 'public-key';
        id: string;
        transports: string[];
      })[];
    };
  };
  /** A new session token for a refresh token, which works once */
  'POST /api/auth/federated/refresh': {
    body: {
      refreshToken: string;
    };
    reply: {
      success: true;
      sessionToken: string;
      refreshToken: string;
      expiresIn: 86400;
    };
  };
  /** Turn a token of the federated identity provider into a session token */
  'POST /api/auth/federated/verify': {
    body?: {
      fidToken?: unknown;
      address?: string | null;
    };
    reply: {
      success: true;
      sessionToken: string;
      refreshToken: string;
      address: string | null;
      tokenGated: boolean;
      accessLevel: 'basic' | 'full';
    };
  };
  /** Mail a link to set a new password; the same answer whether or not the account exists */
  'POST /api/auth/forgot-password': {
    body: {
      email: string;
      website?: unknown;
      altcha?: string;
    };
    reply: {
      message: string;
    };
  };
  /** The older receiver: knows people by their e-mail address alone. Use /api/security/risc */
  'POST /api/auth/idp2/risc': {
    reply: {
      received: true;
    };
  };
  /** Sign in with e-mail and password; sets the session cookie, or says that the second step is owed */
  'POST /api/auth/login': {
    body: {
      email: string;
      password: string;
    };
    reply: {
      ok: true;
      user: {
        id: string;
        name: string;
      };
    } | {
      ok: false;
      secondStep: {
        methods: ('passkey' | 'totp' | 'recovery')[];
        expiresAt: string;
      };
    };
  };
  /** A nonce for a wallet sign-in: works once, within ten minutes */
  'POST /api/auth/nonce': {
    reply: {
      nonce: string;
    };
  };
  /** Sign in with a passkey alone; sets the session cookie */
  'POST /api/auth/passkey': {
    body: {
      passkey: {
        id: string;
        type: 'public-key';
        response: {
          clientDataJSON: string;
          authenticatorData: string;
          signature: string;
          userHandle?: string | null;
        };
      };
    };
    reply: {
      ok: true;
      user: {
        id: string;
        name: string;
      };
    };
  };
  /** What a passkey has to sign to sign in with it alone; works once, within five minutes */
  'POST /api/auth/passkey/options': {
    reply: {
      challenge: string;
      rpId: string;
      userVerification: 'required';
      timeout: number;
      allowCredentials: ({
        type: 'public-key';
        id: string;
        transports: string[];
      })[];
    };
  };
  /** Set a new password with a mailed link; ends all sessions */
  'POST /api/auth/reset-password': {
    body: {
      token: string;
      password: string;
    };
    reply: {
      message: string;
    };
  };
  /** The second step of a sign-in: a code, a recovery code or a passkey; sets the session cookie */
  'POST /api/auth/second-step': {
    body?: {
      code?: string;
      recoveryCode?: string;
      passkey?: {
        id: string;
        type: 'public-key';
        response: {
          clientDataJSON: string;
          authenticatorData: string;
          signature: string;
          userHandle?: string | null;
        };
      };
    };
    reply: {
      ok: true;
      user: {
        id: string;
        name: string;
      };
    };
  };
  /** What a passkey has to sign for the second step; works once, within five minutes */
  'POST /api/auth/second-step/passkey': {
    reply: {
      challenge: string;
      rpId: string;
      userVerification: 'required';
      timeout: number;
      allowCredentials: ({
        type: 'public-key';
        id: string;
        transports: string[];
      })[];
    };
  };
  /** End the session and clear the cookie */
  'POST /api/auth/signout': {
    reply: {
      ok: true;
    };
  };
  /** Whether the wallet of somebody holds enough of the gating token */
  'POST /api/auth/token-gating/verify': {
    body: {
      fid: string | number;
      address: string;
    };
    reply: {
      fid: string | number;
      address: string;
      hasAccess: boolean;
      tokenGated: boolean;
      minBalance: string;
      token: string | null;
      chain: string;
      message: string;
      timestamp: string;
    };
  };
  /** Prove an address with a mailed link. Without the session of that account everything made in it before ends: its password too, unless one is given with the token */
  'POST /api/auth/verify-email': {
    body: {
      token: string;
      password?: string;
    };
    reply: {
      success: true;
    };
  };
  /** Mail the verification link again; the same answer whether or not the account exists */
  'POST /api/auth/verify-email/resend': {
    body: {
      email: string;
    };
    reply: {
      message: string;
    };
  };
  /** Give a program what it asks for, or refuse it; the answer says where to go */
  'POST /api/authorizations': {
    body: {
      client_id?: string;
      redirect_uri?: string;
      response_type?: string;
      code_challenge?: string;
      code_challenge_method?: string;
      scope?: string;
      state?: string;
      resource?: string;
      approved: boolean;
      scopes: string[];
    };
    reply: {
      redirect: string;
    };
  };
  /** Subscribe to a plan on the card processor's page */
  'POST /api/billing/checkout': {
    body: {
      plan: 'solo' | 'collective' | 'label' | 'network';
    };
    reply: {
      url: string;
      sessionId: string;
    };
  };
  /** Change or end the subscription on the card processor's page */
  'POST /api/billing/portal': {
    reply: {
      url: string;
    };
  };
  /** Events of the card processor, top-ups too, signed in the header billing-signature or Stripe-Signature; each counts once */
  'POST /api/billing/webhook': {
    reply: {
      received: true;
    };
  };
  /** Say something to an agent and hear its answer; `Accept: text/event-stream` hears it word by word */
  'POST /api/chat': {
    body: {
      message: string;
      agentId?: string;
      topic?: string;
    };
    reply: {
      id: string;
      message: string;
      topic: string | null;
      status: 'sent';
      timestamp: string;
      reply: string;
    };
  };
  /** Say the same to two or more agents or models, each in a new conversation; GET /api/live brings the answers as they are written */
  'POST /api/compare': {
    body: {
      id: string;
      message: string;
      sides: ({
        agentId: string;
        model?: string | null;
      })[];
    };
    reply: {
      id: string;
      sides: ({
        agentId: string;
        model: string | null;
        sessionId: string | null;
        error: string | null;
      })[];
    };
  };
  /** Replace the configuration; the current one is backed up first */
  'POST /api/config': {
    body?: {
      config?: unknown;
    };
    reply: {
      success: true;
      config: Record<string, unknown>;
      backupId: string;
      backups: ({
        id: string;
        timestamp: string;
      })[];
    };
  };
  /** One answer of the public demo, at most 1,024 tokens */
  'POST /api/demo/chat': {
    body: {
      message: string;
      model?: string;
      mode?: string;
      conversation?: unknown[];
    };
    reply: {
      id: string;
      model: string;
      message: string;
      usage: {
        prompt_tokens: number;
        completion_tokens: number;
        total_tokens: number;
      };
      done: true;
    };
  };
  /** Approve, deny or revoke a device */
  'POST /api/devices': {
    body: {
      deviceId: string;
      action: string;
    };
    reply: {
      success: true;
      device: {
        id: string;
        name: string;
        agentId: string | null;
        ip: string;
        firstSeen: string;
        lastSeen: string;
        status: 'pending' | 'approved' | 'denied' | 'revoked';
      };
      pending: ({
        id: string;
        name: string;
        agentId: string | null;
        ip: string;
        firstSeen: string;
        lastSeen: string;
        status: 'pending' | 'approved' | 'denied' | 'revoked';
      })[];
      approved: ({
        id: string;
        name: string;
        agentId: string | null;
        ip: string;
        firstSeen: string;
        lastSeen: string;
        status: 'pending' | 'approved' | 'denied' | 'revoked';
      })[];
    };
  };
  /** Ask to be paired with an agent; the bearer is the agent’s gateway token */
  'POST /api/devices/pair': {
    body: {
      name: string;
    };
    reply: {
      deviceId: string;
      deviceSecret: string;
    };
  };
  /** Wake the agent every so often; without anything to do it costs nothing */
  'POST /api/heartbeat': {
    body: {
      agentId: string;
      frequency?: string;
      enabled?: boolean;
    };
    reply: {
      success: true;
      heartbeat: {
        frequency: string;
        enabled: boolean;
        lastHeartbeat: string | null;
        nextHeartbeat: string | null;
      };
    };
  };
  /** Start a task from elsewhere: signed as Standard Webhooks says, or with the secret as bearer. The body is shown to the agent as data; the same webhook-id twice runs once */
  'POST /api/hooks/:triggerId': {
    params: { triggerId: string };
    reply: {
      receiptId: string;
      taskId: string;
      duplicate: boolean;
    };
  };
  /** Import them: agents, collections, files, memories, tasks, and skills that wait for a review. All of it, or nothing */
  'POST /api/imports': {
    query?: {
      name?: string;
      path?: string;
      plan?: string;
    };
    reply: {
      success: true;
      teamId: string;
      name: string;
      agents: ({
        name: string;
        agentId: string;
        url: string;
      })[];
      format: 'docker-agent' | 'openclaw' | 'paperclip' | 'letta';
      collections: ({
        name: string;
        documents: number;
      })[];
      files: ({
        agent: string;
        path: string;
      })[];
      memories: ({
        agent: string;
        key: string;
      })[];
      skills: string[];
      tasks: ({
        agent: string;
        name: string;
        cronSchedule: string;
        timezone: string;
      })[];
      notCarried: ({
        at: string;
        says: string;
      })[];
      toGive: ({
        at: string;
        says: string;
      })[];
      yaml_config: string;
    };
  };
  /** What files of docker-agent, OpenClaw, Paperclip or Letta would become, and what is not carried over. The body is a document or a zip, tar or tar.gz, as application/octet-stream. Nothing is made */
  'POST /api/imports/preview': {
    query?: {
      name?: string;
      path?: string;
    };
    reply: {
      name: string;
      description: string;
      agents: ({
        name: string;
        role: string;
        model: string;
        tools: string[];
        servers: string[];
        subAgents: string[];
      })[];
      format: 'docker-agent' | 'openclaw' | 'paperclip' | 'letta';
      collections: ({
        name: string;
        documents: number;
      })[];
      files: ({
        agent: string;
        path: string;
      })[];
      memories: ({
        agent: string;
        key: string;
      })[];
      skills: string[];
      tasks: ({
        agent: string;
        name: string;
        cronSchedule: string;
        timezone: string;
      })[];
      notCarried: ({
        at: string;
        says: string;
      })[];
      toGive: ({
        at: string;
        says: string;
      })[];
      yaml_config: string;
    };
  };
  /** Allow or refuse several calls of one tool, or give several questions one answer; what cannot be decided any more is named, and the others are */
  'POST /api/inbox/decisions': {
    body: {
      items: ({
        id: string;
        agentId: string;
        words?: string;
      })[];
      approved: boolean;
      answer?: string;
    };
    reply: {
      decided: ({
        id: string;
        error: string | null;
      })[];
    };
  };
  /** Start, stop, restart, update, repair or reset the memory of an agent */
  'POST /api/instance/:userId/:action': {
    params: { userId: string; action: string };
    body?: {
      image?: unknown;
    };
    reply: {
      success: true;
      status: string;
      message?: string;
      image?: string;
      previousImage?: string;
      backupPath?: string;
      runtimeVersion?: string;
    };
  };
  /** Invite somebody; the link is shown this once */
  'POST /api/invite': {
    body: {
      name: string;
    };
    reply: {
      success: true;
      inviteUrl: string;
      token: string;
    };
  };
  /** Gone: use /api/invite */
  'POST /api/invite/generate': {
    reply: string;
  };
  /** Gone: use /api/invites/verify */
  'POST /api/invite/validate': {
    reply: string;
  };
  /** Whether an invite can still be used */
  'POST /api/invites/verify': {
    body: {
      token: string;
    };
    reply: {
      valid: true;
      plan: 'solo';
      note?: string;
    };
  };
  /** Create an API key; it is shown this once */
  'POST /api/keys': {
    body: {
      name: string;
      origins?: string[];
    };
    reply: {
      id: string;
      name: string;
      key: string;
      createdAt: string;
    };
  };
  /** Whose key this is */
  'POST /api/keys/validate': {
    body: {
      apiKey: string;
    };
    reply: {
      valid: true;
      userId: string;
      email: string;
      plan: 'solo' | 'collective' | 'label' | 'network' | null;
      subscriptionStatus: string;
      features: string[];
    };
  };
  /** Make a collection */
  'POST /api/knowledge': {
    body: {
      name: string;
      description?: string;
    };
    reply: {
      id: string;
      name: string;
      description: string;
      documents: number;
      waiting: number;
      failed: number;
      passages: number;
      agents: ({
        id: string;
        name: string;
      })[];
      embeddings: string | null;
      embedded: number;
      meaningNote: string | null;
      createdAt: string;
      updatedAt: string;
    };
  };
  /** Add a text, or a page by its address */
  'POST /api/knowledge/:id/documents': {
    params: { id: string };
    body?: {
      name?: string;
      text?: string;
      url?: string;
      everyHours?: number | null;
    };
    reply: {
      id: string;
      name: string;
      title: string | null;
      source: 'file' | 'text' | 'url';
      url: string | null;
      kind: string | null;
      state: 'waiting' | 'ready' | 'failed';
      error: string | null;
      notes: string[];
      bytes: number;
      passages: number;
      everyHours: number | null;
      readAt: string | null;
      nextReadAt: string | null;
      createdAt: string;
    };
  };
  /** Add a file; its bytes are the body, as application/octet-stream. It is read soon after */
  'POST /api/knowledge/:id/documents/file': {
    params: { id: string };
    query: {
      name: string;
    };
    reply: {
      id: string;
      name: string;
      title: string | null;
      source: 'file' | 'text' | 'url';
      url: string | null;
      kind: string | null;
      state: 'waiting' | 'ready' | 'failed';
      error: string | null;
      notes: string[];
      bytes: number;
      passages: number;
      everyHours: number | null;
      readAt: string | null;
      nextReadAt: string | null;
      createdAt: string;
    };
  };
  /** Read a page again now */
  'POST /api/knowledge/documents/:id/read': {
    params: { id: string };
    reply: {
      id: string;
      name: string;
      title: string | null;
      source: 'file' | 'text' | 'url';
      url: string | null;
      kind: string | null;
      state: 'waiting' | 'ready' | 'failed';
      error: string | null;
      notes: string[];
      bytes: number;
      passages: number;
      everyHours: number | null;
      readAt: string | null;
      nextReadAt: string | null;
      createdAt: string;
    };
  };
  /** Ask for access to an MCP server (OAuth) for all of your agents: the answer says where you agree */
  'POST /api/mcp-servers/:name/connect': {
    params: { name: string };
    reply: {
      url: string | null;
    };
  };
  /** Have an agent try an MCP server now: the answer has its tools, or why it cannot be used */
  'POST /api/mcp-servers/:name/test': {
    params: { name: string };
    body?: {
      agentId?: string;
    };
    reply: {
      name: string;
      state: 'unused' | 'connected' | 'failed' | 'consent';
      error?: string;
      offered?: string[];
      at?: string;
      agentId: string;
    };
  };
  /** Take the newest version of a program that is an npm package, and pin it for all agents */
  'POST /api/mcp-servers/:name/update': {
    params: { name: string };
    body?: {
      agentId?: string;
    };
    reply: {
      pin: {
        name: string;
        version: string;
        integrity: string;
        packages: number;
        at: string;
      };
    };
  };
  /** Write into what the agent remembers: one key, or several at once */
  'POST /api/memory': {
    body: {
      agentId: string;
      key?: string;
      memory: unknown;
    };
    reply: {
      success: true;
      agentId: string;
      key?: string;
      keysUpdated?: string[];
      saved: true;
    };
  };
  /** Give more agents the key that one of yours has, without typing it again */
  'POST /api/model-keys/share': {
    body: {
      agentId: string;
      agentIds: string[];
    };
    reply: {
      key: {
        provider: string;
        ending: string;
        agents: ({
          id: string;
          name: string;
        })[];
      };
    };
  };
  /** Take your key away from agents; they think on the platform’s account again */
  'POST /api/model-keys/take': {
    body: {
      agentIds: string[];
    };
    reply: {
      success: true;
    };
  };
  /** Try a key before it is given, or the one that an agent has: lists its models and asks one a word */
  'POST /api/model-keys/test': {
    body?: {
      agentId: string;
    } | {
      provider: 'openrouter' | 'anthropic' | 'openai' | 'gemini' | 'groq';
      apiKey: string;
    };
    reply: {
      ok: boolean;
      message: string;
      models: number;
      model: string | null;
      ms: number | null;
    };
  };
  /** Mark notices as read: the given ones, or all */
  'POST /api/notices/read': {
    body?: {
      ids?: string[];
    };
    reply: {
      success: true;
    };
  };
  /** Actions of the payment gateway. join-colony: agentId, walletAddress. fitness, pricing: agentId. endpoints: for anybody. pay: agentId, amount, recipient, currency, endpoint, method */
  'POST /api/paygate': {
    body?: {
      action?: unknown;
      agentId?: unknown;
      walletAddress?: unknown;
      amount?: unknown;
      currency?: unknown;
      recipient?: unknown;
      endpoint?: unknown;
      method?: unknown;
      [key: string]: unknown;
    };
    reply: Record<string, unknown>;
  };
  /** Make and run an agent with its channels, on the backend or on the hosting platform */
  'POST /api/provision': {
    body?: {
      channelTokenA?: string;
      channelTokenB?: string;
      channelTokenC?: string;
      channelUserId?: string;
      aiProvider?: 'openrouter' | 'gemini' | 'groq' | 'anthropic' | 'openai' | 'ollama';
      apiKey?: string;
      plan?: string;
      model?: string;
      skills?: string[];
      agentType?: string;
      autoProvision?: boolean;
      name?: string;
      instruction?: string;
    };
    reply: {
      success: true;
      userId: string;
      subdomain: string;
      url: string;
      streamKey: string;
      liveStreamId: string;
      agentId: string;
      status: string;
    } | {
      success: true;
      userId: string;
      agentId: string;
      serviceId: string;
      url: string;
      status: 'deploying';
    };
  };
  /** Run a team: a ready-made one, agents of your own, or a document that an earlier answer gave */
  'POST /api/provision/team': {
    body?: {
      plan?: unknown;
      templateKey?: unknown;
      customAgents?: unknown[];
      yaml_config?: string;
      [key: string]: unknown;
    };
    reply: {
      success: true;
      teamId: string;
      template: string;
      agents: ({
        container: string;
        agentId: string;
        status: 'running' | 'failed';
        url: string;
        error?: string;
      })[];
      notCarried: ({
        at: string;
        says: string;
      })[];
      toGive: ({
        at: string;
        says: string;
      })[];
      yaml_config: string;
    };
  };
  /** What a document would become: its agents, and what is not carried over. Nothing is made */
  'POST /api/provision/team/preview': {
    body: {
      yaml_config: string;
    };
    reply: {
      name: string;
      description: string;
      agents: ({
        name: string;
        role: string;
        model: string;
        tools: string[];
        servers: string[];
        subAgents: string[];
      })[];
      notCarried: ({
        at: string;
        says: string;
      })[];
      toGive: ({
        at: string;
        says: string;
      })[];
      yaml_config: string;
    };
  };
  /** Tell a browser, by Web Push; one that is known is renewed */
  'POST /api/push/subscriptions': {
    body: {
      endpoint: string;
      keys: {
        p256dh: string;
        auth: string;
      };
      name?: string;
    };
    reply: {
      subscription: {
        id: string;
        endpoint: string;
        name: string;
        createdAt: string;
        toldAt: string | null;
      };
    };
  };
  /** Send a message to every browser that is told */
  'POST /api/push/test': {
    reply: {
      browsers: number;
    };
  };
  /** Create an account */
  'POST /api/register': {
    body: {
      email: string;
      password: string;
      name?: string;
      referralCode?: string;
      inviteToken?: string;
      website?: unknown;
      altcha?: string;
    };
    reply: {
      id: string;
      email: string;
      name: string;
    };
  };
  /** Register an agent runtime on the user’s own machine */
  'POST /api/register-home': {
    body: {
      userId: string;
      mode?: 'home' | 'link' | 'cloud';
      gatewayToken?: string;
    };
    reply: {
      success: true;
      message: string;
      dashboardUrl: string;
    };
  };
  /** Register a runtime that was there already */
  'POST /api/register-link': {
    body: {
      userId: string;
      gatewayToken?: string;
    };
    reply: {
      success: true;
      message: string;
      dashboardUrl: string;
    };
  };
  /** Read a sentence into a plan; nothing is made by it */
  'POST /api/say': {
    body: {
      sentence: string;
      timezone?: string;
      by?: 'model' | 'rules';
    };
    reply: {
      plan: {
        name: string;
        model: string;
        instruction: string;
        tools: string[];
        task: {
          name: string;
          prompt: string;
          cronSchedule: string;
          timezone: string;
        } | null;
        tells: 'telegram' | 'slack' | 'email' | 'discord' | 'whatsapp' | null;
        capUsd: number | null;
      };
      by: 'model' | 'rules';
      isSandbox: boolean;
      notes: string[];
      cost: {
        pages: number;
        past: ({
          model: string;
          runs: number;
          low: number;
          high: number;
        })[];
        perRunUsd: {
          low: number;
          high: number;
        };
        perMonthUsd: {
          low: number;
          high: number;
        };
        runs: number;
        from: number;
      };
    };
  };
  /** Make what a plan says: the agent, its cap and its task, all of it or nothing */
  'POST /api/say/make': {
    body: {
      name: string;
      model: string;
      instruction: string;
      tools: string[];
      task: {
        name: string;
        prompt: string;
        cronSchedule: string;
        timezone: string;
      } | null;
      tells: 'telegram' | 'slack' | 'email' | 'discord' | 'whatsapp' | null;
      capUsd: number | null;
    };
    reply: {
      agentId: string;
      taskId: string | null;
    };
  };
  /** Try once what a plan says, before it is made: its agent is asked now and nothing of it stays but what it cost. Files, memory and commands are its own and thrown away, pages are read, and what acts outside is not run. It takes two minutes at most */
  'POST /api/say/try': {
    body: {
      name: string;
      model: string;
      instruction: string;
      tools: string[];
      task: {
        name: string;
        prompt: string;
        cronSchedule: string;
        timezone: string;
      } | null;
      tells: 'telegram' | 'slack' | 'email' | 'discord' | 'whatsapp' | null;
      capUsd: number | null;
    };
    reply: {
      answer: string;
      reason: string | null;
      calls: ({
        tool: string;
        args: string;
        isError: boolean;
        isRun: boolean;
      })[];
      tokens: number;
      costUsd: number;
      seconds: number;
    };
  };
  /** Schedule a prompt for an agent */
  'POST /api/scheduled-tasks': {
    body: {
      name: string;
      cronSchedule: string;
      prompt: string;
      agentId: string;
      description?: string | null;
      enabled?: boolean;
      timezone?: string;
      tells?: 'telegram' | 'slack' | 'email' | 'discord' | 'whatsapp' | null;
    };
    reply: {
      id: string;
      name: string;
      description: string | null;
      cronSchedule: string;
      timezone: string;
      prompt: string;
      enabled: boolean;
      lastRun: string | null;
      nextRun: string | null;
      agentId: string;
      tells: 'telegram' | 'slack' | 'email' | 'discord' | 'whatsapp' | null;
      createdAt: string;
      updatedAt: string;
    };
  };
  /** Run a task now, with an input if you like; the same `key` twice runs once */
  'POST /api/scheduled-tasks/:id/run': {
    params: { id: string };
    body?: {
      input?: string | Record<string, unknown> | unknown[];
      key?: string;
    };
    reply: {
      receiptId: string;
      taskId: string;
      duplicate: boolean;
    };
  };
  /** Start a task by a webhook, a file in the workspace, a mail to the agent or the result of another task; a webhook’s secret is shown this once */
  'POST /api/scheduled-tasks/:id/triggers': {
    params: { id: string };
    body?: {
      kind: 'webhook';
    } | {
      kind: 'file';
      pattern: string;
    } | {
      kind: 'email';
      sender?: string;
    } | {
      kind: 'task';
      afterTaskId: string;
      outcome?: 'succeeded' | 'failed' | 'any';
    };
    reply: {
      trigger: {
        id: string;
        taskId: string;
        kind: 'webhook' | 'file' | 'email' | 'task';
        enabled: boolean;
        address: string | null;
        pattern: string | null;
        sender: string | null;
        afterTaskId: string | null;
        outcome: 'succeeded' | 'failed' | 'any' | null;
        problem: string | null;
        oldSecretUntil: string | null;
        lastAt: string | null;
        createdAt: string;
      };
      secret: string | null;
    };
  };
  /** A new secret for a webhook, shown this once; the old one ends at once, or after a day */
  'POST /api/scheduled-tasks/:id/triggers/:triggerId/rotate': {
    params: { id: string; triggerId: string };
    body?: {
      keepOld?: boolean;
    };
    reply: {
      trigger: {
        id: string;
        taskId: string;
        kind: 'webhook' | 'file' | 'email' | 'task';
        enabled: boolean;
        address: string | null;
        pattern: string | null;
        sender: string | null;
        afterTaskId: string | null;
        outcome: 'succeeded' | 'failed' | 'any' | null;
        problem: string | null;
        oldSecretUntil: string | null;
        lastAt: string | null;
        createdAt: string;
      };
      secret: string | null;
    };
  };
  /** Takes a signed security event token of the general identity provider; acted on once it is stored */
  'POST /api/security/risc': {
    reply: string;
  };
  /** Change the own profile */
  'POST /api/settings': {
    body?: {
      name?: string;
      email?: string;
      notifications?: Record<string, unknown>;
    };
    reply: {
      id: string;
      email: string;
      emailVerified: boolean;
      name: string;
      plan: 'solo' | 'collective' | 'label' | 'network' | null;
      credits: number;
      twoFactorEnabled: boolean;
      notifications: Record<string, unknown>;
      instance: {
        id: string;
        url: string;
      } | null;
    };
  };
  /** Keep a passkey: from now on it signs in alone, and a password no longer does */
  'POST /api/settings/factors/passkeys': {
    body: {
      name: string;
      passkey: {
        id: string;
        type: 'public-key';
        response: {
          clientDataJSON: string;
          authenticatorData: string;
          publicKey: string;
          publicKeyAlgorithm: number;
          transports?: string[];
        };
      };
    };
    reply: {
      factor: {
        id: string;
        kind: 'totp' | 'passkey';
        name: string;
        createdAt: string;
        lastUsed: string | null;
      };
      recoveryCodes: string[] | null;
    };
  };
  /** What `navigator.credentials.create()` needs for a new passkey; works once, within five minutes */
  'POST /api/settings/factors/passkeys/options': {
    reply: {
      challenge: string;
      rp: {
        id: string;
        name: string;
      };
      user: {
        id: string;
        name: string;
        displayName: string;
      };
      pubKeyCredParams: ({
        type: 'public-key';
        alg: number;
      })[];
      authenticatorSelection: {
        residentKey: 'required';
        requireResidentKey: true;
        userVerification: 'required';
      };
      attestation: 'none';
      timeout: number;
      excludeCredentials: ({
        type: 'public-key';
        id: string;
      })[];
    };
  };
  /** A secret for an authenticator app; counts once a code of it was shown */
  'POST /api/settings/factors/totp': {
    body: {
      name: string;
    };
    reply: {
      id: string;
      secret: string;
      uri: string;
    };
  };
  /** Show a code of the new authenticator: from now on a sign-in asks for one */
  'POST /api/settings/factors/totp/:id': {
    params: { id: string };
    body: {
      code: string;
    };
    reply: {
      factor: {
        id: string;
        kind: 'totp' | 'passkey';
        name: string;
        createdAt: string;
        lastUsed: string | null;
      };
      recoveryCodes: string[] | null;
    };
  };
  /** Change the password; every other session ends */
  'POST /api/settings/password': {
    body: {
      currentPassword: string;
      newPassword: string;
    };
    reply: {
      success: true;
    };
  };
  /** New recovery codes, shown once; the old ones stop working */
  'POST /api/settings/recovery-codes': {
    reply: {
      recoveryCodes: string[];
    };
  };
  /** Look through a skill before it is taken: its files, an address to fetch it from, or the name of a built-in one */
  'POST /api/skills/reviews': {
    body?: {
      files?: ({
        path: string;
        content: string;
        encoding?: 'utf8' | 'base64';
      })[];
      url?: string;
      path?: string;
      builtIn?: string;
    };
    reply: {
      name: string;
      description: string;
      digest: string;
      bytes: number;
      source: string;
      license?: string;
      compatibility?: string;
      metadata: Record<string, string>;
      allowedTools: string[];
      id: string;
      skillId: string | null;
      replaces: string | null;
      report: {
        scripts: ({
          path: string;
          interpreter: string;
          lines: number;
        })[];
        hosts: string[];
        findings: ({
          level: 'danger' | 'warning' | 'note';
          code: string;
          text: string;
          path: string;
          line?: number;
          excerpt?: string;
        })[];
        leftOut: string[];
      };
      files: ({
        path: string;
        bytes: number;
        sha256: string;
        kind: 'text' | 'script' | 'picture' | 'font' | 'document' | 'program' | 'binary';
        change: 'added' | 'changed' | 'removed' | 'same';
      })[];
      createdAt: string;
    };
  };
  /** Take it into the library. No agent has it by that; those with an older version keep that one */
  'POST /api/skills/reviews/:id/accept': {
    params: { id: string };
    body: {
      digest: string;
    };
    reply: {
      id: string;
      name: string;
      description: string;
      digest: string;
      bytes: number;
      source: string;
      version: number;
      files: number;
      scripts: number;
      agents: ({
        id: string;
        name: string;
        behind: boolean;
      })[];
      acceptedAt: string | null;
    };
  };
  /** The same for a zip, tar or tar.gz; its bytes are the body, as application/octet-stream */
  'POST /api/skills/reviews/archive': {
    query?: {
      path?: string;
    };
    reply: {
      name: string;
      description: string;
      digest: string;
      bytes: number;
      source: string;
      license?: string;
      compatibility?: string;
      metadata: Record<string, string>;
      allowedTools: string[];
      id: string;
      skillId: string | null;
      replaces: string | null;
      report: {
        scripts: ({
          path: string;
          interpreter: string;
          lines: number;
        })[];
        hosts: string[];
        findings: ({
          level: 'danger' | 'warning' | 'note';
          code: string;
          text: string;
          path: string;
          line?: number;
          excerpt?: string;
        })[];
        leftOut: string[];
      };
      files: ({
        path: string;
        bytes: number;
        sha256: string;
        kind: 'text' | 'script' | 'picture' | 'font' | 'document' | 'program' | 'binary';
        change: 'added' | 'changed' | 'removed' | 'same';
      })[];
      createdAt: string;
    };
  };
  /** Call a plugin and pay for it: headers X-Plugin-Id, X-Payment-Method (card, 402, session), X-Session-Id, X-Payment-Voucher. `agent` is the signed-in payer’s main agent; a payer without one gets one call of a model */
  'POST /api/v1/gateway': {
    body?: {
      plugin?: string;
      [key: string]: unknown;
    };
    reply: {
      plugin: string;
      result: unknown;
      timestamp: string;
      payment: {
        method: '402' | 'card' | 'session';
        receipt: string;
      };
    };
  };
  /** Create the own wallet, or ask about its seed */
  'POST /api/wallet': {
    body: {
      action: 'create' | 'get_seed' | 'export_seed';
    };
    reply: {
      address: string;
      network: string;
      message: string;
    } | {
      address: string;
      network: string;
      createdAt: string;
      warning: string;
    };
  };
  /** Sign in with a smart-contract wallet (Sign-In with Ethereum); sets the session cookie */
  'POST /api/wallet-auth': {
    body: {
      address: string;
      message: string;
      signature: string;
    };
    reply: {
      ok: true;
      user: {
        id: string;
        name: string;
      };
    } | {
      ok: false;
      secondStep: {
        methods: ('passkey' | 'totp' | 'recovery')[];
        expiresAt: string;
      };
    };
  };
  /** Add a wallet from a private key, or from a new one; the key is kept sealed and never shown */
  'POST /api/wallet/cdp': {
    body?: {
      privateKey?: string;
    };
    reply: {
      success: true;
      address: string;
      network: string;
    };
  };
  /** Create a wallet in custody of CDP */
  'POST /api/wallet/create': {
    body: {
      email: string;
    };
    reply: {
      success: true;
      walletAddress: string;
      walletId: string;
      networks: string[];
    };
  };
  /** Set money aside for vouchers; an address has one active session */
  'POST /api/wallet/sessions': {
    body: {
      address: string;
      deposit: string | number;
    };
    reply: {
      session: {
        id: string;
        userAddress: string;
        deposit: string;
        spent: string;
        remaining: string;
        vouchers: ({
          plugin: string;
          timestamp: number;
          amount: string;
        })[];
        status: 'active' | 'settling' | 'closed';
        createdAt: number;
        lastSettledAt: number;
        sandbox?: true;
      };
      note?: string;
    };
  };
  /** Spend from a session with a voucher that its address signed (EIP-712) */
  'POST /api/wallet/sessions/voucher': {
    body: {
      sessionId: string;
      userAddress: string;
      plugin: string;
      amount?: string | number;
      nonce: string;
      signature: string;
    };
    reply: {
      success: true;
      session: {
        id: string;
        spent: string;
        remaining: string;
        pendingVouchers: number;
      };
      voucher: {
        amount: string;
        plugin: string;
        nonce: string;
      };
    };
  };
  /** What the card processor reports, signed in the header billing-signature or Stripe-Signature: as /api/billing/webhook */
  'POST /api/wallet/top-up': {
    reply: {
      received: true;
    };
  };
  /** Be told what happens at an address of yours, signed as Standard Webhooks says; the secret is shown this once */
  'POST /api/webhooks': {
    body: {
      url: string;
      events: ('run.finished' | 'approval.waiting' | 'task.succeeded' | 'task.failed' | 'payment.waiting' | 'payment.paid' | 'payment.failed' | 'notice.raised')[];
    };
    reply: {
      webhook: {
        id: string;
        url: string;
        events: ('run.finished' | 'approval.waiting' | 'task.succeeded' | 'task.failed' | 'payment.waiting' | 'payment.paid' | 'payment.failed' | 'notice.raised')[];
        enabled: boolean;
        createdAt: string;
      };
      secret: string;
    };
  };
  /** Tell it once more, under the same id */
  'POST /api/webhooks/:id/deliveries/:deliveryId/replay': {
    params: { id: string; deliveryId: string };
    reply: {
      deliveryId: string;
    };
  };
  /** A new secret, shown this once; for a day both sign */
  'POST /api/webhooks/:id/rotate': {
    params: { id: string };
    reply: {
      webhook: {
        id: string;
        url: string;
        events: ('run.finished' | 'approval.waiting' | 'task.succeeded' | 'task.failed' | 'payment.waiting' | 'payment.paid' | 'payment.failed' | 'notice.raised')[];
        enabled: boolean;
        createdAt: string;
      };
      secret: string;
    };
  };
  /** Send `webhook.test` there */
  'POST /api/webhooks/:id/test': {
    params: { id: string };
    reply: {
      deliveryId: string;
    };
  };
  /** Ask for a person as a visitor */
  'POST /api/widgets/:key/handover': {
    params: { key: string };
    reply: {
      state: 'agent' | 'waiting' | 'person';
    };
  };
  /** Say something as a visitor; the answer comes over the events */
  'POST /api/widgets/:key/messages': {
    params: { key: string };
    body: {
      message: string;
      id?: string;
    };
    reply: {
      state: 'agent' | 'waiting' | 'person' | 'closed';
      text: string | null;
    };
  };
  /** A token for a visitor, and how the widget looks. Whoever shows a token that counts stays who they are */
  'POST /api/widgets/:key/visitors': {
    params: { key: string };
    body?: {
      token?: string;
    };
    reply: {
      token: string;
      expiresAt: string;
      theme: {
        title: string;
        greeting: string;
        colour: string;
        scheme: 'light' | 'dark' | 'auto';
      };
      handsOver: boolean;
      state: 'agent' | 'waiting' | 'person';
      hasTalked: boolean;
    };
  };
  /** MCP server of the platform: one JSON-RPC message, for an API key or an access token */
  'POST /mcp': {
    reply: string;
  };
  /** Register a program (RFC 7591); it is public, and proves itself by PKCE */
  'POST /oauth/register': {
    body: {
      redirect_uris: string[];
      client_name?: string;
      grant_types?: string[];
      [key: string]: unknown;
    };
    reply: {
      client_id: string;
      redirect_uris: string[];
      [key: string]: unknown;
    };
  };
  /** End a token (RFC 7009); with a refresh token goes all that was given with it */
  'POST /oauth/revoke': {
    reply: string;
  };
  /** Exchange a code or a refresh token, as a form, for tokens */
  'POST /oauth/token': {
    reply: string;
  };
  /** Say who may make an account, and what it begins with; those who are here are not touched */
  'PUT /api/admin/joining': {
    body: {
      mode: 'open' | 'invite' | 'closed';
      plan: 'solo' | 'collective' | 'label' | 'network' | null;
      days: number | null;
    };
    reply: {
      mode: 'open' | 'invite' | 'closed';
      plan: 'solo' | 'collective' | 'label' | 'network' | null;
      days: number | null;
    };
  };
  /** Set or change a channel; it counts at once, and in a container from the next start on */
  'PUT /api/agents/:id/channels/:kind': {
    params: { id: string; kind: string };
    body: {
      settings: Record<string, string>;
      allowed?: string[];
    };
    reply: {
      channel: {
        kind: 'telegram' | 'slack' | 'email' | 'discord' | 'whatsapp';
        isSet: boolean;
        settings: Record<string, string>;
        secrets: string[];
        allowed: string[];
        webhook: string | null;
        state: 'off' | 'starting' | 'listening' | 'failed' | 'refused' | 'elsewhere';
        error: string | null;
        at: string | null;
      };
    };
  };
  /** Change what the agent runs with; it takes effect at once */
  'PUT /api/agents/:id/config': {
    params: { id: string };
    query?: {
      force?: 'true' | 'false';
    };
    body?: Record<string, unknown>;
    reply: {
      config: Record<string, unknown>;
      status: 'updated';
    };
  };
  /** Change a case; what was found with it before stays as it was */
  'PUT /api/agents/:id/evaluation-cases/:caseId': {
    params: { id: string; caseId: string };
    body: {
      name: string;
      input: string;
      checks: ({
        kind: 'contains';
        text: string;
      } | {
        kind: 'lacks';
        text: string;
      } | {
        kind: 'regex';
        pattern: string;
      } | {
        kind: 'schema';
        schema: Record<string, unknown>;
      } | {
        kind: 'called';
        tool: string;
        with?: string;
      } | {
        kind: 'not_called';
        tool: string;
      } | {
        kind: 'cost';
        mostUsd: number;
      } | {
        kind: 'time';
        mostSeconds: number;
      } | {
        kind: 'judge';
        criteria: string;
      })[];
      stubs?: ({
        tool: string;
        result: string;
      })[];
      maxSeconds?: number;
    };
    reply: {
      name: string;
      input: string;
      checks: ({
        kind: 'contains';
        text: string;
      } | {
        kind: 'lacks';
        text: string;
      } | {
        kind: 'regex';
        pattern: string;
      } | {
        kind: 'schema';
        schema: Record<string, unknown>;
      } | {
        kind: 'called';
        tool: string;
        with?: string;
      } | {
        kind: 'not_called';
        tool: string;
      } | {
        kind: 'cost';
        mostUsd: number;
      } | {
        kind: 'time';
        mostSeconds: number;
      } | {
        kind: 'judge';
        criteria: string;
      })[];
      stubs: ({
        tool: string;
        result: string;
      })[];
      maxSeconds: number;
      id: string;
      revision: number;
      updatedAt: string;
    };
  };
  /** Take changes of the agent only when its cases have passed with them, or take them as they come */
  'PUT /api/agents/:id/evaluation-gate': {
    params: { id: string };
    body: {
      enabled: boolean;
    };
    reply: {
      isGated: boolean;
    };
  };
  /** Store a file in the workspace; its bytes are the body, as application/octet-stream */
  'PUT /api/agents/:id/files/content': {
    params: { id: string };
    query: {
      path: string;
      fresh?: 'true';
      force?: 'true' | 'false';
    };
    reply: {
      path: string;
      bytes: number;
    };
  };
  /** Let an agent search a collection; it counts from the next step on */
  'PUT /api/agents/:id/knowledge/:collectionId': {
    params: { id: string; collectionId: string };
    query?: {
      force?: 'true' | 'false';
    };
    body?: Record<string, unknown>;
    reply: {
      collections: ({
        id: string;
        name: string;
        description: string;
        on: boolean;
      })[];
    };
  };
  /** Seal a login for an agent’s browser, or replace the one of that name */
  'PUT /api/agents/:id/logins/:name': {
    params: { id: string; name: string };
    body: {
      origin: string;
      username: string;
      password: string;
    };
    reply: {
      success: true;
    };
  };
  /** Attach an MCP server to an agent, or replace the one of that name */
  'PUT /api/agents/:id/mcp-servers/:name': {
    params: { id: string; name: string };
    query?: {
      force?: 'true' | 'false';
    };
    body?: {
      url?: string;
      headers?: Record<string, string>;
      client?: {
        id: string;
        secret?: string;
      };
      command?: string;
      args?: string[];
      env?: Record<string, string>;
      tools?: string[];
    };
    reply: {
      server: {
        name: string;
        url?: string;
        command?: string;
        args: string[];
        headers: string[];
        clientId?: string;
        env: string[];
        tools?: string[];
        pin?: {
          name: string;
          version: string;
          integrity: string;
          packages: number;
          at: string;
        };
      };
    };
  };
  /** Switch a server of the user’s off for one agent, or on again */
  'PUT /api/agents/:id/mcp-servers/:name/use': {
    params: { id: string; name: string };
    query?: {
      force?: 'true' | 'false';
    };
    body: {
      use: boolean;
    };
    reply: {
      success: true;
    };
  };
  /** Search an agent’s memory by meaning, or take facts out of its conversations */
  'PUT /api/agents/:id/memory': {
    params: { id: string };
    query?: {
      force?: 'true' | 'false';
    };
    body?: {
      embeddings?: string | null;
      facts?: boolean;
    };
    reply: {
      embeddings: string | null;
      memories: number;
      embedded: number;
      meaningNote: string | null;
      facts: boolean;
      factsNote: string | null;
      found: ({
        id: string;
        content: string;
        at: string;
        conversationId: string;
        message: number;
        conversation: string | null;
        contradicts: ({
          id: string;
          content: string;
          at: string;
        })[];
      })[];
    };
  };
  /** Set what an agent may spend on its own; what is left out has no limit */
  'PUT /api/agents/:id/payment-policy': {
    params: { id: string };
    body?: {
      perPayment?: string | null;
      perDay?: string | null;
      perPayee?: string | null;
      approvalAbove?: string | null;
      payees?: string[] | null;
    };
    reply: {
      perPayment: string | null;
      perDay: string | null;
      perPayee: string | null;
      approvalAbove: string | null;
      payees: string[] | null;
    };
  };
  /** Change what the agent is for or which tools it may use, from its next step on; what is left out stays */
  'PUT /api/agents/:id/purpose': {
    params: { id: string };
    query?: {
      force?: 'true' | 'false';
    };
    body?: {
      instruction?: string;
      tools?: string[];
    };
    reply: {
      instruction: string;
      tools: string[];
      welcome: string | null;
      commands: ({
        name: string;
        description: string;
      })[];
    };
  };
  /** Give an agent the newest version of a skill; it counts from the next step on */
  'PUT /api/agents/:id/skills/:skillId': {
    params: { id: string; skillId: string };
    query?: {
      force?: 'true' | 'false';
    };
    body?: {
      digest?: string;
    };
    reply: {
      skills: ({
        id: string;
        name: string;
        description: string;
        on: boolean;
        digest: string;
        version: number | null;
        pinned: string | null;
        behind: boolean;
      })[];
      max: number;
    };
  };
  /** Set the words by which the agent is found; with `pinned` it stands in the sidebar */
  'PUT /api/agents/:id/tags': {
    params: { id: string };
    body: {
      tags: string[];
    };
    reply: {
      success: true;
      tags: string[];
    };
  };
  /** Restore a backup; the current configuration is backed up first */
  'PUT /api/config': {
    body: {
      backupId: string;
    };
    reply: {
      success: true;
      config: Record<string, unknown>;
      restoredFrom: string;
      backups: ({
        id: string;
        timestamp: string;
      })[];
    };
  };
  /** The same for several at once: all of them are marked, or none. It decides nothing */
  'PUT /api/inbox/marks': {
    body: {
      items: ({
        item: string;
        words?: string;
      })[];
      state: 'later' | 'done';
      until?: string;
    };
    reply: {
      marks: ({
        item: string;
        state: 'later' | 'done' | 'decided';
        until: string | null;
        words: string;
        taskId: string | null;
        markedAt: string;
      })[];
    };
  };
  /** Put something in the inbox off until a time, be done with it, or note what was decided. It decides nothing */
  'PUT /api/inbox/marks/:item': {
    params: { item: string };
    body: {
      state: 'later' | 'done' | 'decided';
      until?: string;
      words?: string;
      taskId?: string;
    };
    reply: {
      item: string;
      state: 'later' | 'done' | 'decided';
      until: string | null;
      words: string;
      taskId: string | null;
      markedAt: string;
    };
  };
  /** Make an MCP server for all of your agents, or replace the one of that name */
  'PUT /api/mcp-servers/:name': {
    params: { name: string };
    body?: {
      url?: string;
      headers?: Record<string, string>;
      client?: {
        id: string;
        secret?: string;
      };
      command?: string;
      args?: string[];
      env?: Record<string, string>;
      tools?: string[];
      approval?: 'allow' | 'ask' | 'deny';
      forAll?: boolean;
      agents?: string[];
    };
    reply: {
      server: {
        name: string;
        url?: string;
        command?: string;
        args: string[];
        headers: string[];
        clientId?: string;
        env: string[];
        tools?: string[];
        pin?: {
          name: string;
          version: string;
          integrity: string;
          packages: number;
          at: string;
        };
        approval: 'allow' | 'ask' | 'deny';
        forAll: boolean;
        isConnected: boolean;
        agents: ({
          agentId: string;
          name: string;
          uses: boolean;
          state: 'unused' | 'connected' | 'failed' | 'consent';
          error?: string;
          offered?: string[];
          at?: string;
        })[];
      };
    };
  };
  /** Give agents a key of yours, all of them or none; what they had is replaced. It counts at once */
  'PUT /api/model-keys': {
    body: {
      provider: 'openrouter' | 'anthropic' | 'openai' | 'gemini' | 'groq';
      apiKey: string;
      agentIds: string[];
    };
    reply: {
      key: {
        provider: string;
        ending: string;
        agents: ({
          id: string;
          name: string;
        })[];
      };
    };
  };
  /** Change a task */
  'PUT /api/scheduled-tasks': {
    body: {
      taskId: string;
      name?: string;
      cronSchedule?: string;
      prompt?: string;
      description?: string | null;
      enabled?: boolean;
      timezone?: string;
      tells?: 'telegram' | 'slack' | 'email' | 'discord' | 'whatsapp' | null;
    };
    reply: {
      id: string;
      name: string;
      description: string | null;
      cronSchedule: string;
      timezone: string;
      prompt: string;
      enabled: boolean;
      lastRun: string | null;
      nextRun: string | null;
      agentId: string;
      tells: 'telegram' | 'slack' | 'email' | 'discord' | 'whatsapp' | null;
      createdAt: string;
      updatedAt: string;
    };
  };
  /** Set one spend cap, or remove it with limitUsd null */
  'PUT /api/usage/caps': {
    body: {
      scope: 'user' | 'agent' | 'run' | 'team';
      agentId?: string;
      teamId?: string;
      period?: 'day' | 'month' | 'total';
      limitUsd: number | null;
    };
    reply: {
      caps: ({
        scope: 'user' | 'agent' | 'run' | 'team';
        agentId: string | null;
        teamId: string | null;
        period: 'day' | 'month' | 'total';
        limitUsd: number;
        usedUsd: number | null;
        reservedUsd: number | null;
        resetsAt: string | null;
      })[];
      tokens: {
        used: number;
        limit: number | null;
        enforced: boolean;
        resetsAt: string;
      };
      credits: number;
    };
  };
}
