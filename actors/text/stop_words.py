"""English words that say little, once for all who leave such words out: data."""


def word_set(words: str) -> frozenset[str]:
    """A set of words written as one text."""
    return frozenset(words.split())


STOP = word_set(
    """
    a about again all already also am an and any anybody are as at back be because been being but by can can't
    could did do does doesn't doing don't down each every for from get gets go goes going got had happens has
    have having he her here him his how i i'm if in into is isn't it it's its just let lets like make makes may
    me might more most must my need needs no nor not of off on or other others our out over own per please
    really s said say says shall she should so some somebody someone something still such t tell than that the
    their them then there these they thing things this those to too up us use used using very via want wants was
    way we we're were what when where which who whom whose why will with won't would yet you your
    """
)
"""English words that neither the index nor a question keeps."""

EVERYDAY = word_set(
    """
    able add afraid after ago ahead almost although always although annoying anymore anyway apart appear appears around
    asap avoid bad before begin behind believe besides best better between big bigger biggest boss came case clock
    cause cheaper choose colleague colleagues come comes coming company correctly couple day days deal dear decide dear
    different difference do documentation during easiest easy else end ended ends enough everybody everyone
    exactly example exist existing exists explain explanation fast faster fastest few fewer find fine first
    five follow forgot four
    friday gave gb give gives good great guess guide half handle happen happened happening hello help hi higher
    hope hour hours however hundreds huge idea immediately important inside instead january itself kb keep keeps
    kept kind know large larger largest last lately later least less little long longer look looking lot low
    lower machine main managed manager many mb mean means meanwhile million millions minute minutes moment monday
    month months morning much nearly never new next nice night nobody noon nothing now office often ok okay old
    once one only otherwise outside overall part people perhaps pick picks possible pretty problem problems
    project properly put question quickly quite rather reason recently recommended remember right safe safely
    same second see seem seems seen several short shorter show simple simply since slow slower slowest slowly
    small smaller smallest sometimes soon sorry sort spring start started step steps strange stuff suddenly
    summer supposed take takes tb team ten terrible thank thanks think thousand thousands three times tip tips
    today together tomorrow tried trick tricks try turn tutorial twelve two understand unless until urgent
    urgently usually week weekend weeks weird well whether while whole winter wish within without wonder
    wondering work working works worried worst wrong year years yesterday
    """
)
"""English words of any talk: they weigh less, and no search depends on them."""

CONNECTING = STOP | word_set(
    """
    above across after against along although among another anyone aren't away before below both cannot either etc even
    ever however including less ll next onto only re respectively since though through toward under until upon various
    ve versus vs what's while within without yes
    """
)
"""Words that connect others, those included that an index keeps because they may tell a phrase."""

LIGHT = (CONNECTING - {"back"}) | word_set(
    """
    almost alone always around ask became between brief came come compare compared compares comparing comparison
    describe detailed difference differences different done during else enough example explain few find first full gave
    general give given good happen help important itself keep kind know look made main many matter mean means much
    never now often once one overview part possible put question rather report research same see seem seen several show
    summary sure take taken takes terms today together try two uses usually ways well went whether whole work works
    write
    """
)
"""
What does not count where two texts are compared; the words of a task itself are among them. "Back" counts: who wants
a password back is not answered by any page on passwords.
"""
