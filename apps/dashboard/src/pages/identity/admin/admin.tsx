import { useNavigate, useSearch } from '@tanstack/react-router';
import { useSession } from '../../../session.ts';
import { admin as texts } from '../../../texts/account.ts';
import { Notice } from '../../../ui/card.tsx';
import { Page } from '../../../ui/page.tsx';
import { Tabs } from '../../../ui/tabs.tsx';
import { AccessCard } from '../access.tsx';
import { AdminHealth } from './health.tsx';
import { AdminInvites } from './invites.tsx';
import { AdminUsers } from './users.tsx';
import { providers } from '../../../texts/providers.ts';
import { AdminProviders } from './providers.tsx';

export default function Admin() {
  const { user } = useSession();
  const { tab = 'users' } = useSearch({ strict: false });
  const navigate = useNavigate();
  if (!user?.isAdmin) {
    return (
      <Page title={texts.title}>
        <Notice tone="spot">{texts.notAdmin}</Notice>
        {/* Who is in already has nothing to ask for here. */}
        <AccessCard />
      </Page>
    );
  }
  return (
    <Page title={texts.title} lead={texts.lead}>
      <Tabs
        label={texts.tabs}
        value={tab}
        onChange={(next) => void navigate({ to: '.', search: { tab: next } as never })}
        tabs={[
          { key: 'users', label: texts.users, content: () => <AdminUsers /> },
          { key: 'invites', label: texts.joining, content: () => <AdminInvites /> },
          { key: 'providers', label: providers.tab, content: () => <AdminProviders /> },
          { key: 'health', label: texts.health, content: () => <AdminHealth /> },
        ]}
      />
    </Page>
  );
}
