/* Client, endpoint, team and segment: what is asked of them (GASNet-EX 0.19, "Client", "Endpoints",
 * "Teams"). */
#include "ex.h"

CASE(client_has_its_name_and_its_objects, "GX-055 GX-058") {
  EXPECT(strcmp(gex_Client_QueryName(client), "conform") == 0);
  EXPECT(gex_EP_QueryClient(endpoint) == client);
  EXPECT(gex_TM_QueryClient(team) == client);
  EXPECT(gex_TM_QueryEP(team) == endpoint);
  EXPECT(gex_Segment_QueryClient(segment) == client);
  EXPECT_EQ(gex_TM_QueryRank(team), gex_System_QueryJobRank());
  EXPECT_EQ(gex_TM_QuerySize(team), gex_System_QueryJobSize());
}
