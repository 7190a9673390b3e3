@v1alpha1
Feature: Profiles of one machine

  @OUP-PROFILE-001
  Scenario: A profile that is made again is the one that was made
    Given a server of its own
    And a connection
    And the server serves profile/local/create
    When the client calls profile/local/create with {"name":"Conform «unique»","username":"conform-«unique»"}
    Then the answer is {"created":true,"email":null,"username":"conform-«unique»"}
    When "profile_id" of the answer is remembered as "first"
    And the client calls profile/local/create with {"name":"Conform «unique»","username":"conform-«unique»"}
    Then the answer is {"created":false,"profile_id":"«first»"}

  @OUP-PROFILE-002
  Scenario: Profiles are made for one person alone
    Given a server of its own
    And a connection
    And a session
    Then profile/local/create with {"name":"Conform «unique»","username":"conform-«unique»"} is for one person alone

  @OUP-PROFILE-003 @OUP-PROFILE-004 @OUP-PROFILE-007 @OUP-PROFILE-009
  Scenario: What a profile may be
    Given a server of its own
    And a connection
    And the server serves profile/local/create
    Then each of these calls ends so:
      | rule            | call                 | params                                                                                         | ends                                                    |
      | OUP-PROFILE-004 | profile/local/create | {"name":"Conform A «unique»","username":"Conform-_.A..«unique»"}                               | result {"username":"conform-a-«unique»","created":true} |
      | OUP-PROFILE-009 | profile/local/create | {"name":"Conform B «unique»","username":"conform-a-«unique»"}                                  | error invalid_params kind profile_local_collision       |
      | OUP-PROFILE-009 | profile/local/create | {"name":"Conform B «unique»","username":"conform-a-«unique»","requested_id":"conform-b-«unique»"} | error invalid_params kind profile_local_collision    |
      | OUP-PROFILE-009 | profile/local/create | {"name":"Conform C «unique»","username":"conform-c-«unique»","email":"c-«unique»@host.example"} | result {"created":true,"email":"c-«unique»@host.example"} |
      | OUP-PROFILE-009 | profile/local/create | {"name":"Conform D «unique»","username":"conform-d-«unique»","email":"c-«unique»@host.example"} | error invalid_params kind profile_local_collision      |
      | OUP-PROFILE-003 | profile/local/create | {}                                                                                             | error invalid_params kind profile_local_invalid_name    |
      | OUP-PROFILE-007 | profile/local/create | {"name":"«repeat 129 n»","username":"conform-e-«unique»"}                                      | error invalid_params kind profile_local_invalid_name    |
      | OUP-PROFILE-007 | profile/local/create | {"name":"Conform\u0007","username":"conform-e-«unique»"}                                       | error invalid_params kind profile_local_invalid_name    |
      | OUP-PROFILE-004 | profile/local/create | {"name":"Conform E","username":"local"}                                                        | error invalid_params kind profile_local_invalid_username |
      | OUP-PROFILE-004 | profile/local/create | {"name":"Conform E","username":"-._"}                                                          | error invalid_params kind profile_local_invalid_username |
      | OUP-PROFILE-004 | profile/local/create | {"name":"Conform E","username":"«repeat 65 u»"}                                                | error invalid_params kind profile_local_invalid_username |
      | OUP-PROFILE-007 | profile/local/create | {"name":"Conform E «unique»","username":"conform-e-«unique»","email":"a@b@c"}                  | error invalid_params kind profile_local_invalid_email   |
      | OUP-PROFILE-007 | profile/local/create | {"name":"Conform E «unique»","username":"conform-e-«unique»","email":"nowhere"}                | error invalid_params kind profile_local_invalid_email   |
      | OUP-PROFILE-007 | profile/local/create | {"name":"Conform F «unique»","username":"conform-e-«unique»"}                                  | result {"created":true}                                 |

  @OUP-PROFILE-003 @OUP-PROFILE-005
  Scenario: An id that is wished for
    Given a server of its own
    And a connection
    And the server serves profile/local/create
    And the server serves profile.local_create.requested_id.v1
    Then each of these calls ends so:
      | rule            | call                 | params                                                                                                     | ends                                               |
      | OUP-PROFILE-003 | profile/local/create | {"requested_id":"Conform._R.«unique»"}                                                                     | result {"name":"Conform._R.«unique»"}              |
      | OUP-PROFILE-005 | profile/local/create | {"requested_id":"Conform._S.«unique»","name":"One «unique»","username":"conform-one-«unique»"}             | result {"profile_id":"conform-s-«unique»"}         |
      | OUP-PROFILE-005 | profile/local/create | {"requested_id":"Conform._S.«unique»","name":"Two «unique»","username":"conform-two-«unique»"}             | result {"profile_id":"conform-s-«unique»-2"}       |
      | OUP-PROFILE-005 | profile/local/create | {"requested_id":"conform-s-«unique»","name":"Three «unique»","username":"conform-three-«unique»"}          | result {"profile_id":"conform-s-«unique»-3"}       |

  @OUP-PROFILE-006
  Scenario: A wish for an id needs its feature
    Given a server of its own
    And a connection
    And the server serves profile/local/create
    Then a wish for an id is heard where its feature is negotiated alone

  @OUP-PROFILE-006
  Scenario: A wish for the default needs its feature
    Given a server of its own
    And a connection
    And the server serves profile/local/create
    Then a wish for the default is heard where its feature is negotiated alone

  @OUP-LAUNCH-001
  Scenario: A launch changes nothing
    Given a server of its own
    And a connection
    And the server serves launch/resolve
    When the client calls session/list
    And "sessions" of the answer is remembered as "sessions"
    And the client calls launch/resolve with {"cwd":"«workspace»"}
    Then the answer is {"decision":"activate"}
    When the client calls launch/resolve with {"cwd":"«workspace»"}
    Then the answer is {"decision":"activate"}
    When the client calls session/list
    Then the answer is {"sessions":"«elements of sessions»"}

  @OUP-LAUNCH-002
  Scenario: Where a start leads
    Given a server of its own
    And a connection
    And the server serves launch/resolve
    And a profile for the run
    And a profile "stranger" for the run
    When the client calls launch/resolve with {"cwd":"«workspace»","profile_id":"«profile»"}
    Then the launch names profiles as its decision says
    When the client calls session/open with {"session_id":"«profile»:local:«unique»","cwd":"«workspace»"}
    Then the answer is {"opened":{"session_id":"«text»"}}
    When the client calls launch/resolve with {"cwd":"«workspace»","profile_id":"«profile»"}
    Then the launch names profiles as its decision says
    And the answer is {"decision":"resume","resolved_profile":"«profile»"}
    When the client calls launch/resolve with {"cwd":"«workspace»","profile_id":"«stranger»"}
    Then the launch names profiles as its decision says
    And the answer is {"decision":"cross_profile"}

  @OUP-LAUNCH-003
  Scenario: The profile that was in a folder last is taken
    Given a server of its own
    And a connection
    And the server serves launch/resolve
    And a profile for the run
    When the client calls session/open with {"session_id":"«profile»:local:«unique»","cwd":"«workspace»"}
    Then the answer is {"opened":{"session_id":"«text»"}}
    When the client calls launch/resolve with {"cwd":"«workspace»"}
    Then the answer is {"decision":"resume","resolved_profile":"«profile»"}
