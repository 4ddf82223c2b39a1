import { useNavigate, useSearch } from '@tanstack/react-router';
import { settings as texts } from '../../../texts/account.ts';
import { account } from '../../../texts/safety.ts';
import { Page } from '../../../ui/page.tsx';
import { Tabs } from '../../../ui/tabs.tsx';
import { Account } from '../account/account.tsx';
import { AuditLog } from '../audit.tsx';
import { AllKeys } from '../all-keys.tsx';
import { Notifications } from './notifications.tsx';
import { Profile } from './profile.tsx';
import { Referrals } from '../invites/referrals.tsx';
import { Security } from './security.tsx';

export default function Settings() {
  const { tab = 'profile' } = useSearch({ strict: false });
  const navigate = useNavigate();
  return (
    <Page title={texts.title}>
      <Tabs
        label={texts.tabs}
        value={tab}
        onChange={(next) => void navigate({ to: '.', search: { tab: next } as never })}
        tabs={[
          { key: 'profile', label: texts.profile, content: () => <Profile /> },
          { key: 'security', label: texts.security, content: () => <Security /> },
          { key: 'keys', label: texts.keys, content: () => <AllKeys /> },
          { key: 'notifications', label: texts.notifications, content: () => <Notifications /> },
          { key: 'referrals', label: texts.referrals, content: () => <Referrals /> },
          { key: 'account', label: account.tab, content: () => <Account /> },
          { key: 'audit', label: texts.audit, content: () => <AuditLog /> },
        ]}
      />
    </Page>
  );
}
