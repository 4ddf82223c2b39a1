import { useNavigate, useSearch } from '@tanstack/react-router';
import { underground as texts } from '../../texts/underground.ts';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { Amplifications, Bookings, Bus } from './bus.tsx';
import { Events } from './events/events.tsx';
import { Splits } from './splits.tsx';
import { AgentWallets } from './wallets.tsx';

export default function Underground() {
  const { tab = 'bus' } = useSearch({ strict: false });
  const navigate = useNavigate();
  return (
    <Page title={texts.title} lead={texts.lead}>
      <Tabs
        label={texts.tabs}
        value={tab}
        onChange={(next) => void navigate({ to: '.', search: { tab: next } as never })}
        tabs={[
          { key: 'bus', label: texts.bus, content: () => <Bus /> },
          { key: 'bookings', label: texts.bookings, content: () => <Bookings /> },
          { key: 'amplify', label: texts.amplify, content: () => <Amplifications /> },
          { key: 'events', label: texts.events, content: () => <Events /> },
          { key: 'wallets', label: texts.wallets, content: () => <AgentWallets /> },
          { key: 'splits', label: texts.splits, content: () => <Splits /> },
        ]}
      />
    </Page>
  );
}
