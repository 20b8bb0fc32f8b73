# A queue, a customer, an account for Terminus with its token, and scrips that tell Terminus.
our @Queues = ({ Name => 'Support', CorrespondAddress => 'support@lab.test', CommentAddress => 'team@lab.test' });
our @Users  = (
    { Name => 'agentbot', EmailAddress => 'agentbot@lab.test', Privileged => 1 },
    { Name => 'helen', EmailAddress => 'helen@lab.test', Privileged => 1 },
);
our @CustomFields = (
    { Name => 'AgentState', Type => 'FreeformSingle',   Queue => 'Support' },
    { Name => 'Tag',        Type => 'FreeformMultiple', Queue => 'Support' },
);
our @ACL = map { { GroupDomain => 'SystemInternal', GroupType => 'Everyone', Right => $_, Queue => 'Support' } }
    qw(CreateTicket ReplyToTicket);
push @ACL, map { my $who = $_; map { { UserId => $who, Right => $_ } } qw(
    SeeQueue ShowTicket ShowTicketComments ReplyToTicket CommentOnTicket ModifyTicket OwnTicket
    SeeCustomField ModifyCustomField ManageAuthTokens) } qw(agentbot helen);
my $code = do { local $/; open my $file, '<', $ENV{RT_LAB_SCRIP} or die $!; <$file> };
our @Scrips = map { {
    Queue => 'Support', Description => "Terminus: $_", ScripCondition => $_, ScripAction => 'User Defined',
    Template => 'Blank', Stage => 'TransactionBatch', CustomPrepareCode => 'return 1;', CustomCommitCode => $code,
} } ('On Create', 'On Correspond');
our @Final = (sub {
    my $user = RT::User->new(RT->SystemUser);
    for my $name (qw(agentbot helen)) {
        $user->Load($name);
        my ($id, $said, $token) = RT::AuthToken->new(RT->SystemUser)->Create(Owner => $user->Id, Description => 'lab');
        open my $file, '>', "$ENV{RT_LAB}/$name.token" or die $!;
        print $file $token or die $!;
    }
});
1;
